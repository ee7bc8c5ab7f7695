import { describe, expect, it } from 'vitest'
import type { ChatMessage } from '../../language-model/language-model.ts'
import { conversationIn } from './conversation.ts'
import { fill } from './fill.ts'
import type { Language } from './language.ts'

type Properties = Readonly<Record<string, object>>

/** The values of the properties, the first of them required, from "agent|caller" lines. */
function read(language: Language, lines: readonly string[], properties: Properties, system = ''): unknown {
  const messages: ChatMessage[] = [{ role: 'system', content: system }]
  for (const line of lines) {
    const [agent, caller] = line.split('|') as [string, string]
    if (agent !== '') messages.push({ role: 'assistant', content: agent })
    messages.push({ role: 'user', content: caller })
  }
  const schema = { type: 'object', properties, required: Object.keys(properties).slice(0, 1) }
  return fill(schema, conversationIn(messages), language, true).values
}

const text = (description: string, more: object = {}) => ({ type: 'string', description, ...more })

describe('a name property that rules-1 fills from a conversation', () => {
  const name = { name: text("The guest's full name") }

  it.each([
    ['|My name is Ada Byron', 'Ada Byron'],
    ["|Hi, I'm Ada Byron and I want a room", 'Ada Byron'],
    ['|this is Ada', 'Ada'],
    ['|A room under the name of Byron, please', 'Byron'],
    ["What is your name?|it's ada byron", 'Ada Byron'],
    ['What is your name?|Ada Byron, please.', 'Ada Byron'],
    ['May I have your name?|Sure. Ludwig van Beethoven', 'Ludwig van Beethoven'],
    ['|ada byron', 'Ada Byron'],
  ])('"%s" gives the name', (line, expected) => {
    expect(read('en', [line], name)).toEqual({ name: expected })
  })

  it.each([
    'What is your name?|Yes',
    'What is your name?|I would rather not say',
    'What is your name?|I said nine nine nine nine.',
    'Say your number, or your name if you are new here.|I am new here.',
    '|I am calling about my booking',
    '|',
  ])('a name property that rules-1 fills from a conversation is left out after "%s"', line => {
    expect(read('en', [line], name)).toEqual({})
  })

  it('a name property that rules-1 fills from a conversation is split into first and last name when the schema asks for parts', () => {
    const parts = { first_name: text('First name'), last_name: text('Last name') }
    expect(read('en', ['|my name is Ada King Byron'], parts)).toEqual({ first_name: 'Ada', last_name: 'King Byron' })
  })

  it.each([
    ['|Me llamo Ana Pérez', 'Ana Pérez'],
    ['|Soy María de la Cruz', 'María de la Cruz'],
    ['|A nombre de García', 'García'],
    ['¿Cómo se llama?|Ana', 'Ana'],
    ['|me llamo ana y quiero una mesa', 'Ana'],
  ])('"%s" gives the Spanish name', (line, expected) => {
    expect(read('es', [line], { nombre: text('El nombre del cliente') })).toEqual({ nombre: expected })
  })

  it('a name property that rules-1 fills from a conversation is not overwritten by later answers about other properties', () => {
    const lines = ['What is your name?|Ada Byron', 'Which day suits you?|Tuesday', 'Shall I book it?|Yes please']
    expect(read('en', lines, { name: text('Name of the caller'), day: text('The day') })).toEqual({
      name: 'Ada Byron',
      day: 'Tuesday',
    })
  })
})

describe('the day and time properties that rules-1 fills from a conversation', () => {
  const when = { day: text('The day of the visit'), time: text('The time of the visit') }

  it.each([
    ['|next Tuesday at three', { day: 'next Tuesday', time: '15:00' }],
    ['|tomorrow at half past nine', { day: 'tomorrow', time: '09:30' }],
    ['|on the fifth of May at 10:45', { day: 'fifth of May', time: '10:45' }],
    ['|Friday at 8 pm', { day: 'Friday', time: '20:00' }],
    ['|Monday, a quarter to five in the afternoon', { day: 'Monday', time: '16:45' }],
    ['|noon on Sunday', { day: 'Sunday', time: '12:00' }],
    ['|not on Monday, on Thursday at four thirty', { day: 'Thursday', time: '16:30' }],
  ])('"%s" gives day and time', (line, expected) => {
    expect(read('en', [line], when)).toEqual(expected)
  })

  it.each([
    ['|el martes a las cuatro', { day: 'martes', time: '16:00' }],
    ['|mañana por la mañana a las diez y media', { day: 'mañana', time: '10:30' }],
    ['|el 5 de mayo a las ocho menos cuarto de la tarde', { day: '5 de mayo', time: '19:45' }],
    ['|pasado mañana al mediodía', { day: 'pasado mañana', time: '12:00' }],
  ])('"%s" gives the Spanish day and time', (line, expected) => {
    expect(read('es', [line], { day: text('El día'), time: text('La hora') })).toEqual(expected)
  })

  it('the day and time properties that rules-1 fills from a conversation take an offered time by its hour, by its position in the offer, or by agreement', () => {
    const offer = 'I have 8:00 in the morning or 20:00. Which one?'
    expect(read('en', [`${offer}|eight in the evening`], { time: text('The time') })).toEqual({ time: '20:00' })
    expect(read('en', ['I have 10:15 or 16:30. Which time?|the second one'], { time: text('The time') })).toEqual({
      time: '16:30',
    })
    expect(read('en', ['I have 10:15 or 16:30. Which time?|the last one'], { time: text('The time') })).toEqual({
      time: '16:30',
    })
    expect(read('en', ['I have Monday, Tuesday or Friday. Which day?|The last.'], { day: text('The day') })).toEqual({
      day: 'Friday',
    })
    expect(read('es', ['Tengo lunes o martes. ¿Qué día?|el último'], { dia: text('El día') })).toEqual({
      dia: 'martes',
    })
    expect(read('en', ['I have 10:15 or 16:30. Which time?|ten fifteen'], { time: text('The time') })).toEqual({
      time: '10:15',
    })
    expect(read('en', ['Is Tuesday at 10:15 fine?|Yes'], when)).toEqual({ day: 'Tuesday', time: '10:15' })
  })

  it('the day and time properties that rules-1 fills from a conversation are left out after opening hours, working hours and courtesies', () => {
    expect(read('en', ['We are open from eight to six.|ok thanks', '|a room please'], when)).toEqual({})
    expect(read('en', ['|I work from ten to five'], when)).toEqual({})
  })

  it('the day and time properties that rules-1 fills from a conversation take the newest day when the caller changes their mind', () => {
    expect(read('en', ['Which day?|Tuesday', 'Tuesday. Shall I book it?|No, make it Friday'], when)).toEqual({
      day: 'Friday',
    })
  })

  it('the day and time properties that rules-1 fills from a conversation are ISO dates when the schema asks for dates, relative to the current day', () => {
    const date = { date: { type: 'string', format: 'date' } }
    const now = 'It is 2026-01-05, a Monday.'
    expect(read('en', ['|tomorrow'], date, now)).toEqual({ date: '2026-01-06' })
    expect(read('en', ['|on Monday'], date, now)).toEqual({ date: '2026-01-12' })
    expect(read('en', ['|January 3rd'], date, now)).toEqual({ date: '2027-01-03' })
    expect(read('en', ['|May 5th 2026'], date)).toEqual({ date: '2026-05-05' })
    expect(read('en', ['|February 30th'], date, now)).toEqual({})
    expect(read('en', ['|tomorrow'], date)).toEqual({})
  })
})

describe('the number properties that rules-1 fills from a conversation', () => {
  it.each([
    ['How many guests?|four', 4],
    ['How many guests?|There will be twenty-two of us', 22],
    ['|a table for six people at eight', 6],
    ['How many guests?|[pressed 3#]', 3],
    ['How many guests?|one hundred and five', 105],
  ])('"%s" gives the number of guests', (line, expected) => {
    const properties = { guests: { type: 'integer', description: 'Number of guests or people' } }
    expect(read('en', [line], properties)).toEqual({ guests: expected })
  })

  it('the number properties that rules-1 fills from a conversation are left out when they exceed their bounds', () => {
    const guests = { guests: { type: 'integer', description: 'Number of guests', minimum: 1, maximum: 10 } }
    expect(read('en', ['How many guests?|eleven'], guests)).toEqual({})
    expect(read('en', ['How many degrees?|minus 3.5'], { degrees: { type: 'number' } })).toEqual({ degrees: -3.5 })
  })

  it.each([
    ['What is your phone number?|555 0100 200', '5550100200'],
    ['|you can reach me on +1 (555) 010-0200', '+15550100200'],
    ['|my number is five five five, oh one double zero, two hundred', '5550100200'],
  ])('"%s" gives the phone number', (line, expected) => {
    expect(read('en', [line], { phone: text('Phone number') })).toEqual({ phone: expected })
  })

  it.each([
    ['What is your booking number?|It is 0 0 7', '007'],
    ['|my booking number is AB12', 'AB12'],
    ['What is your booking number?|[pressed 1042#]', '1042'],
    ['What is your booking number?|forty two seventeen', '4217'],
  ])('"%s" gives the booking number', (line, expected) => {
    expect(read('en', [line], { booking_number: text('The booking number') })).toEqual({ booking_number: expected })
  })

  it.each([
    ['|ada.byron@example.com', 'ada.byron@example.com'],
    ['|ada dot byron at example dot com', 'ada.byron@example.com'],
    ["It's?|ada underscore b at mail dot example dot org please", 'ada_b@mail.example.org'],
  ])('"%s" gives the e-mail address', (line, expected) => {
    expect(read('en', [line], { email: text('E-mail') })).toEqual({ email: expected })
  })

  it('the number properties that rules-1 fills from a conversation are read from Spanish number words, phone numbers and e-mail addresses', () => {
    expect(
      read('es', ['¿Cuántos son?|treinta y dos'], { personas: { type: 'integer', description: 'Cuántos son' } }),
    ).toEqual({ personas: 32 })
    expect(
      read('es', ['|seis uno dos, treinta y cuatro, cincuenta y seis, setenta'], { telefono: text('El teléfono') }),
    ).toEqual({ telefono: '612345670' })
    expect(read('es', ['|ana punto ruiz arroba ejemplo punto es'], { correo: text('El correo') })).toEqual({
      correo: 'ana.ruiz@ejemplo.es',
    })
  })
})

describe('the enumerations, booleans and lists that rules-1 fills from a conversation', () => {
  const room = {
    room: { type: 'string', enum: ['single', 'double', 'large suite', 'suite'], description: 'The kind of room' },
  }

  it.each([
    ['|two Double rooms please', 'double'],
    ['|the large suite', 'large suite'],
    ['|a suite', 'suite'],
    ['|single, no wait, double', 'double'],
    ['|not a single, a suite', 'suite'],
    ['Single or double?|the second one', 'double'],
    ['Would you like a suite?|yes', 'suite'],
  ])('"%s" gives the kind of room', (line, expected) => {
    expect(read('en', [line], room)).toEqual({ room: expected })
  })

  it('the enumerations, booleans and lists that rules-1 fills from a conversation leave out an enumeration of which no value was named', () => {
    expect(read('en', ['Single or double?|whatever'], room)).toEqual({})
  })

  it('the enumerations, booleans and lists that rules-1 fills from a conversation match values without accents and with numbers in words', () => {
    expect(read('es', ['|PEQUEÑAS'], { t: { enum: ['pequeña', 'grande'] } })).toEqual({ t: 'pequeña' })
    expect(read('en', ['|three'], { stars: { enum: [1, 2, 3] } })).toEqual({ stars: 3 })
    expect(read('en', ['|no'], { confirmed: { enum: ['yes', 'no'], description: 'confirmed' } })).toEqual({})
    expect(
      read('en', ['Is it confirmed?|no'], { confirmed: { enum: ['yes', 'no'], description: 'confirmed' } }),
    ).toEqual({ confirmed: 'no' })
  })

  it.each([
    ['Are you a member?|Yes I am', true],
    ['Are you a member?|no', false],
    ["|I'm a member", true],
    ['|I am not a member', false],
    ['Are you a member?|what is that', undefined],
  ])('"%s" answers a boolean about membership', (line, expected) => {
    const values = read('en', [line], { is_member: { type: 'boolean', description: 'Whether the guest is a member' } })
    expect(values).toEqual(expected === undefined ? {} : { is_member: expected })
  })

  it('the enumerations, booleans and lists that rules-1 fills from a conversation fill a list with every value that was named and not refused', () => {
    const extras = { extras: { type: 'array', items: { type: 'string', enum: ['parking', 'breakfast', 'spa'] } } }
    expect(read('en', ['|breakfast and parking, no spa'], extras)).toEqual({ extras: ['breakfast', 'parking'] })
  })

  it('the enumerations, booleans and lists that rules-1 fills from a conversation fill nested objects', () => {
    const stay = {
      stay: {
        type: 'object',
        properties: { day: text('The day'), nights: { type: 'integer', description: 'How many nights' } },
      },
    }
    expect(read('en', ['|from Tuesday for three nights'], stay)).toEqual({ stay: { day: 'Tuesday', nights: 3 } })
  })
})

describe('the free text properties that rules-1 fills from a conversation', () => {
  it('the free text properties that rules-1 fills from a conversation take the answer to the matching question, without polite phrases', () => {
    const wish = { wish: text('Special wishes for the room') }
    expect(read('en', ['Do you have special wishes?|Yes, a quiet room please'], wish)).toEqual({ wish: 'a quiet room' })
    expect(
      read('es', ['¿A qué dirección?|A la calle Mayor 5, por favor'], { direccion: text('La dirección') }),
    ).toEqual({ direccion: 'calle Mayor 5' })
  })

  it('the free text properties that rules-1 fills from a conversation take the newest turn when they are required, and are left out otherwise', () => {
    const two = { reason: text('Why the caller calls'), note: text('A remark') }
    expect(read('en', ['|my key does not work'], two)).toEqual({ reason: 'my key does not work' })
    expect(read('en', ['|yes'], two)).toEqual({})
  })

  it('the free text properties that rules-1 fills from a conversation take constants of the schema, and are left out beyond their maximum length', () => {
    expect(read('en', ['|hello'], { source: { const: 'phone' }, reason: text('Why', { maxLength: 3 }) })).toEqual({
      source: 'phone',
    })
  })

  it('the free text properties that rules-1 fills from a conversation may be called "__proto__" without changing the prototype of the result', () => {
    const values = read('en', ['|my name is Ada'], JSON.parse('{"__proto__":{"type":"string","description":"name"}}'))
    expect(Object.getPrototypeOf(values)).toBe(Object.prototype)
    expect(Object.keys(values as object)).toEqual(['__proto__'])
  })
})
