import { describe, expect, it } from 'vitest'
import { choose } from './choice.ts'
import type { Language } from './language.ts'
import { parseTurn } from './turn.ts'

/** The condition that is chosen. "[2]" are pressed keys; a question before "|" is the agent's. */
function held(language: Language, said: string, conditions: readonly string[]): string | null {
  const [question, turn] = said.includes('|') ? (said.split('|') as [string, string]) : ['', said]
  const keys = /^\[(.+)\]$/.exec(turn.trim())
  const answer = {
    turn: parseTurn(keys === null ? turn : '', keys?.[1] ?? null, language),
    question: question === '' ? null : parseTurn(question, null, language),
  }
  const transitions = conditions.map((condition, i) => ({ tool: String(i), condition }))
  const choice = choose(transitions, answer, language)
  return choice === null ? null : conditions[Number(choice.tool)]!
}

const BOOK = 'The caller wants to book a room'
const CANCEL = 'The caller wants to cancel or change a booking'
const HOURS = 'The caller asks about opening hours'
const PERSON = 'The caller asks to speak to a person'
const DONE = 'The caller does not need anything else'
const MORE = 'The caller wants something else'
const YES = 'The caller agrees'
const NO = 'The caller declines'

describe('the condition that rules-1 chooses for an English turn', () => {
  it.each([
    ['I would like to book a room for tonight', BOOK],
    ['can I reserve a room?', BOOK],
    ["um, I'd like to cancel my booking", CANCEL],
    ['I need to move my booking to Friday', CANCEL],
    ['when do you close?', HOURS],
    ['What are your hours?', HOURS],
    ['let me talk to a human', PERSON],
    ['Can I speak to someone?', PERSON],
    ['purple elephants', null],
    ['', null],
    ['...', null],
  ])('"%s" fulfils "%s" among booking, hours and transfer requests', (said, expected) => {
    expect(held('en', said, [BOOK, CANCEL, HOURS, PERSON])).toBe(expected)
  })

  it.each([
    ['Yes.', YES],
    ['yeah sure', YES],
    ['That sounds good', YES],
    ['No problem', YES],
    ["That's right, yes", YES],
    ['no', NO],
    ['No, thank you', NO],
    ["I'd rather not", NO],
    ["I don't think so", NO],
    ["I don't want that", NO],
    ['Actually, cancel that.', NO],
    ['Actually, cancel that. Another day.', NO],
    ['oh never mind', NO],
    ["I'm not sure", null],
    ["I don't know", null],
    ['What did you say?', null],
  ])('"%s" is agreement, refusal or neither', (said, expected) => {
    expect(held('en', said, [NO, YES])).toBe(expected)
  })

  it.each([
    ["no, that's all", DONE],
    ['No.', DONE],
    ['nothing else, thanks', DONE],
    ['Yes, what does breakfast cost?', MORE],
    ['I have another question', MORE],
  ])('"%s" asks for more or for nothing else', (said, expected) => {
    expect(held('en', said, [MORE, DONE])).toBe(expected)
  })

  const NAMES_A_TIME = 'The caller names a time, such as eleven or two fifteen, or wants the first or the second'
  const OTHER_DAY = 'The caller wants another day'
  const OTHER = 'The caller declines, or wants another day or another time'

  it.each([
    ['Another day, please.', OTHER_DAY],
    ['On a different day.', OTHER_DAY],
    ['Do you have other days?', OTHER_DAY],
    ['Friday, please', OTHER_DAY],
    ['The second one, please.', NAMES_A_TIME],
    ['At two fifteen', NAMES_A_TIME],
    ['purple elephants', null],
  ])('"%s" names a time or asks for another day', (said, expected) => {
    expect(held('en', said, [NAMES_A_TIME, OTHER_DAY])).toBe(expected)
  })

  it.each([
    ['Another day, please.', OTHER],
    ['Is there another time?', OTHER],
    ['Yes, please', YES],
    ['No', OTHER],
  ])('"%s" accepts an offer or asks for another', (said, expected) => {
    expect(held('en', said, [YES, OTHER])).toBe(expected)
  })

  it('a refused wish does not fulfil a condition about that wish', () => {
    const wants = 'The caller wants insurance'
    const wantsNot = 'The caller does not want insurance'
    expect(held('en', 'I want insurance', [wantsNot, wants])).toBe(wants)
    expect(held('en', "I don't want insurance", [wants, wantsNot])).toBe(wantsNot)
    expect(held('en', 'no insurance please', [wants, wantsNot])).toBe(wantsNot)
    expect(held('en', 'Do you want insurance?|no', [wants, wantsNot])).toBe(wantsNot)
    expect(held('en', 'No, I want to add insurance', [wantsNot, wants])).toBe(wants)
    expect(held('en', "I don't have an account", ['The caller has an account', 'The caller has no account'])).toBe(
      'The caller has no account',
    )
  })

  it('a "yes" fulfils the condition that the question was about', () => {
    const ways = ['The caller wants to cancel the trip', 'The caller wants to change the trip']
    expect(held('en', 'Would you like to change the trip?|yes please', ways)).toBe(ways[1])
    expect(held('en', 'What would you like?|yes please', ways)).toBeNull()
  })

  it('a quoted phrase matches word for word, and a quoted "yes" matches any agreement', () => {
    expect(held('en', 'code blue', ['The caller says "code red"', 'The caller says "code blue"'])).toBe(
      'The caller says "code blue"',
    )
    expect(held('en', 'of course', ["The caller says 'no'", "The caller says 'yes'"])).toBe("The caller says 'yes'")
    expect(held('en', "well, I can't", ["The caller's answer is 'can'", "The caller can't come"])).not.toBeNull()
  })

  it.each([
    ['[1]', 'The caller presses 1'],
    ['[2]', 'The caller presses 2 or says "sales"'],
    ['sales please', 'The caller presses 2 or says "sales"'],
    ['two', 'The caller presses 2 or says "sales"'],
    ['[123456#]', 'The caller enters digits'],
  ])('"%s" fulfils "%s", a condition about pressed keys', (said, expected) => {
    const ways = ['The caller presses 1', 'The caller presses 2 or says "sales"', 'The caller enters digits']
    expect(held('en', said, ways)).toBe(expected)
  })

  it('digits spoken as words fulfil "The caller gives a number"', () => {
    expect(held('en', 'three five', ['The caller gives a number'])).toBe('The caller gives a number')
  })

  it.each([
    ['Tuesday', 'The caller gives a day'],
    ['at half past three', 'The caller gives a time'],
    ['Next Monday at ten', 'The caller gives a day and a time'],
    ['my name is Ada Byron', 'The caller gives their name'],
    ['5 Long Lane', 'The caller gives their address'],
    ['555 0100 200', 'The caller gives a phone number'],
    ['ada at example dot com', 'The caller gives an e-mail address'],
    ['It keeps making a strange noise', 'The caller describes the problem'],
    ['blue, I think', 'The caller says anything else'],
    ['bye bye', 'The caller says goodbye'],
    ['Thanks a lot', 'The caller thanks the agent'],
    ['Could you repeat that?', 'The caller did not understand'],
    ['hold on a second', 'The caller asks to wait'],
    ['I am not sure', 'The caller is not sure'],
  ])('"%s" fulfils "%s"', (said, condition) => {
    expect(held('en', said, [condition])).toBe(condition)
  })

  it('the best match wins, and the first of equal matches', () => {
    expect(held('en', 'about the bill', ['It is about the bill', 'The caller asks about the bill'])).toBe(
      'It is about the bill',
    )
    const general = 'The caller asks about a delivery'
    const special = 'The caller asks about a late delivery'
    expect(held('en', 'my delivery is late', [general, special])).toBe(special)
    expect(held('en', 'I have a question about a delivery', [special, general])).toBe(general)
  })
})

describe('the condition that rules-1 chooses for a Spanish turn', () => {
  const RESERVAR = 'El cliente quiere reservar una mesa'
  const CANCELAR = 'El cliente quiere cancelar o cambiar su reserva'
  const HORARIO = 'El cliente pregunta por el horario'
  const PERSONA = 'El cliente quiere hablar con una persona'

  it.each([
    ['Quería reservar una mesa para esta noche', RESERVAR],
    ['tengo que anular mi reserva', CANCELAR],
    ['quisiera cambiarla', CANCELAR],
    ['¿A qué hora cierran?', HORARIO],
    ['páseme con un humano', PERSONA],
    ['elefantes morados', null],
  ])('"%s" fulfils "%s" among Spanish requests', (said, expected) => {
    expect(held('es', said, [RESERVAR, CANCELAR, HORARIO, PERSONA])).toBe(expected)
  })

  it.each([
    ['Sí, claro', 'El cliente acepta'],
    ['vale', 'El cliente acepta'],
    ['¿Por qué no?', 'El cliente acepta'],
    ['No, gracias', 'El cliente no acepta'],
    ['no quiero', 'El cliente no acepta'],
    ['claro que no', 'El cliente no acepta'],
    ['no lo sé', null],
  ])('"%s" is agreement, refusal or neither', (said, expected) => {
    expect(held('es', said, ['El cliente no acepta', 'El cliente acepta'])).toBe(expected)
  })

  it.each([
    ['el martes que viene', 'El cliente da una fecha'],
    ['a las cuatro y media', 'El cliente da una hora'],
    ['me llamo Ana', 'El cliente dice su nombre'],
    ['nada más', 'El cliente no quiere nada más'],
    ['adiós', 'El cliente se despide'],
    ['¿Puede repetirlo?', 'El cliente no ha entendido'],
    ['[3]', 'El cliente pulsa 3'],
    ['calle Real 3', 'El cliente da su dirección'],
  ])('"%s" fulfils "%s"', (said, condition) => {
    expect(held('es', said, [condition])).toBe(condition)
  })
})
