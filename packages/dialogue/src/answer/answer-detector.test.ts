import { describe, expect, it } from 'vitest'
import { type AnswerStep, classesOf, detect, type TimedOutput } from '../testing/scripted-answer.ts'
import { isMachine } from './protocol.ts'

const GREETING = "hi you've reached John I can't come to the phone please leave a message after the tone"

const at = (outputs: readonly TimedOutput[], type: TimedOutput['type']) =>
  outputs.find(output => output.type === type)?.atMs

const later = (says: string): AnswerStep[] => [{ pauses: 600 }, { says }]

describe('what answered is decided', () => {
  it.each<[string, AnswerStep[], string[]]>([
    ['"hello?" is a person', later('hello'), ['human']],
    ['"hello?" without its words is a person', [{ pauses: 600 }, { says: 'hello', words: false }], ['human']],
    ['"hello? ... hello?" is a person', [...later('hello'), { pauses: 1500 }, { says: 'hello' }], ['human']],
    [
      'the long greeting of a company is a person',
      later('good morning thank you for calling Riverside Dental this is Maria how can I help you'),
      ['human'],
    ],
    ['a mailbox is found by its words', later(GREETING), ['voicemail']],
    [
      'a mailbox that is full is no mailbox that takes a message',
      later('the mailbox is full and cannot accept any messages at this time goodbye'),
      ['mailbox_unavailable'],
    ],
    ['a menu is found by its digits', later('for sales press one for support press two'), ['ivr']],
    [
      'a call screener asks for name and reason',
      later('hi if you record your name and reason for calling I will see if this person is available'),
      ['screener'],
    ],
    [
      'a number out of service is an announcement',
      later('the number you have dialed is not in service please check the number and dial again'),
      ['announcement'],
    ],
    ['special information tones are an announcement', [{ tone: 'sit', hz: 1776, ms: 380 }], ['announcement']],
    ['the answering tone of a fax is a fax', [{ pauses: 400 }, { tone: 'fax', hz: 2100, ms: 2600 }], ['fax']],
    ['a line without a sound is silence', [{ pauses: 6000 }], ['silence']],
    ['a person who speaks late is a person', [{ pauses: 6500 }, { says: 'hello' }], ['silence', 'human']],
  ])('%s', (_, steps, classes) => expect(classesOf(detect(steps))).toEqual(classes))

  it('a mailbox that begins with "hello" is a person until it goes on', () => {
    const greeting = [...later('hello'), { pauses: 1500 }, { says: GREETING }, { pauses: 400 }]
    expect(classesOf(detect(greeting))).toEqual(['human', 'voicemail'])
  })

  it('a person who said hello, waited and then talks on with a word of mailboxes stays a person', () => {
    const talk = [
      ...later('hello'),
      { pauses: 1500 },
      { says: 'my brother was unable to find the keys of the car last night' },
    ]
    expect(classesOf(detect(talk))).toEqual(['human'])
  })

  it('a greeting of unknown words that goes on for 6 s is a machine', () => {
    const outputs = detect([{ says: Array(30).fill('word').join(' ') }])
    expect(classesOf(outputs)).toEqual(['voicemail'])
    expect(at(outputs, 'verdict')).toBe(6000)
  })

  it('voice without a word for 3 s is the music of a queue, with a doubt, until words say more', () => {
    const music: AnswerStep = { says: Array(12).fill('music').join(' '), words: false }
    const outputs = detect([music])
    expect(classesOf(outputs)).toEqual(['ivr'])
    expect(at(outputs, 'verdict')).toBe(3000)
    const [first] = outputs.flatMap(output => (output.type === 'verdict' ? [output.verdict] : []))
    expect(first!.confidence).toBeLessThan(0.7)
    expect(classesOf(detect([music, { pauses: 400 }, { says: 'hello who is this' }]))).toEqual(['ivr', 'human'])
    expect(classesOf(detect([music, { pauses: 400 }, { says: GREETING }])).at(-1)).toBe('voicemail')
  })

  it('a machine of no known class that asks who is calling is a screener', () => {
    const opening = 'this line is private who is this please'
    expect(classesOf(detect(later(opening))).at(-1)).toBe('screener')
  })

  it.each([
    "No he's not available at the moment can I take a message",
    'Hello can I call you back in five minutes',
    "I don't know this number who are you",
    'Sorry I cannot talk right now',
    'please stop calling this number',
  ])('"%s" is a person, whose words a mailbox or an announcement could say', says =>
    expect(classesOf(detect(later(says)))).toEqual(['human']),
  )

  it('a recording whose class its words leave open is a mailbox with a doubt, until words of a screener come', () => {
    const outputs = detect(later('the person you are calling uses call screening please say your name'))
    expect(classesOf(outputs)).toEqual(['voicemail', 'screener'])
    const [first, second] = outputs.flatMap(output => (output.type === 'verdict' ? [output.verdict] : []))
    expect(first!.confidence).toBeLessThan(0.7)
    expect(second!.confidence).toBeGreaterThan(0.8)
  })

  it.each<[string, string]>([
    [
      'screener',
      "hello you've reached the call guard for Daniel please tell me who you are and what you'd like to discuss",
    ],
    ['screener', 'this call is being screened please say your first and last name'],
    ['screener', 'the subscriber only wants calls from people they know please identify yourself'],
    ['screener', "I'm Laura's virtual receptionist may I ask who's calling and what it's in reference to"],
    ['voicemail', 'hi I am not around so say something nice after the bleep'],
    ['voicemail', "this is Tom's mobile I'm probably on site talk to the machine"],
    ['mailbox_unavailable', 'this user has no voice mailbox set up yet goodbye'],
    ['ivr', 'thanks for contacting Orange Electric we are currently experiencing a higher number of calls'],
    ['human', 'hello he is not in can I take a message'],
    ['human', "yes this is she what's this about"],
  ])('a rare wording of the class %s is found: "%s"', (name, says) =>
    expect(classesOf(detect([...later(says), { pauses: 3000 }])).at(-1)).toBe(name),
  )

  it('Spanish mailboxes, menus and people are told apart', () => {
    const spanish = (says: string) => classesOf(detect(later(says), { languages: ['es'] }))
    expect(spanish('hola no puedo atender el teléfono deje su mensaje después del tono')).toEqual(['voicemail'])
    expect(spanish('gracias por llamar marque uno para ventas marque dos para soporte')).toEqual(['ivr'])
    expect(spanish('hola dígame')).toEqual(['human'])
    expect(spanish('el número que usted marcó no existe')).toEqual(['announcement'])
    expect(spanish('diga su nombre y el motivo de su llamada')).toEqual(['screener'])
  })

  it.each([
    'juan no está disponible quién le llama',
    'ahora no te puedo hablar dime',
    'estoy reunido te llamo luego',
    'ha llamado a hotel miramar dígame',
    'estoy ocupado dime',
    'te llamo en un rato',
  ])('a person who says in Spanish what mailboxes say as well is no machine: "%s"', says =>
    expect(classesOf(detect(later(says), { languages: ['es'] }))).toEqual(['human']),
  )

  it.each([
    ['es', 'buenas soy Marta Vidal no me encuentro en casa', 3000],
    ['es', 'hola soy Marta Vidal en estos momentos', 2400],
    ['es', 'buenas tardes soy Marta Vidal estoy de viaje', 2700],
    ['es', 'has comunicado con Marta Vidal', 2100],
    ['en', "good morning this is Martha Weaver I'm", 2700],
    ['en', 'thanks for ringing Orange Electric due to', 2700],
  ])(
    'in %s a name or a company and what no person goes on with is a machine before it says more: "%s"',
    (language, says, byMs) => {
      const outputs = detect([{ says }], { languages: [language], untilMs: byMs })
      expect(classesOf(outputs).filter(isMachine)).not.toEqual([])
    },
  )

  it.each([
    ['es', 'buenas soy Marta Vidal con quién hablo'],
    ['es', 'buenas tardes'],
    ['es', 'hola soy Marta dígame'],
    ['en', 'good morning this is Martha how can I help'],
    ['en', 'welcome to Orange Electric this is Martha how can I help'],
    ['en', 'thanks for ringing Orange Electric Martha here who would you like to speak to'],
  ])('in %s a person who says a name or a company and goes on as people do is no machine: "%s"', (language, says) =>
    expect(classesOf(detect(later(says), { languages: [language] }))).toEqual(['human']),
  )

  it.each([
    ['en', 'the you are calling is not'],
    ['en', 'is important to us your place'],
    ['en', 'five five two seven take your call'],
    ['es', 'número cinco cinco dos no responde'],
    ['es', 'a con la que intenta comunicarse'],
    ['es', 'su ha sido transferida al de voz'],
  ])('in %s a recording is found where the recogniser lost a word of its opening: "%s"', (language, says) =>
    expect(classesOf(detect([{ says }], { languages: [language], untilMs: 3200 })).filter(isMachine)).not.toEqual([]),
  )

  it('a beep after talk is a mailbox even if no word was understood', () => {
    const steps: AnswerStep[] = [
      { says: 'one two three four', words: false },
      { pauses: 200 },
      { tone: 'tone', hz: 1000, ms: 300 },
    ]
    expect(classesOf(detect(steps))).toEqual(['voicemail'])
  })

  it('ringing in the stream is nothing that answered', () => {
    const ring: AnswerStep[] = [{ tone: 'ringback', hz: 440, ms: 2000 }, { pauses: 4000 }]
    expect(classesOf(detect([...ring, ...ring, { says: 'hello' }]))).toEqual(['human'])
  })

  it('a person is known 450 ms after a short greeting whose words have come', () => {
    expect(at(detect([{ says: 'hello' }]), 'verdict')).toBe(750)
  })

  it('a person who has talked with the agent stays one, whatever they say', () => {
    const talk: AnswerStep[] = [
      { says: 'hello' },
      { pauses: 800 },
      { agent: true },
      { pauses: 1000 },
      { agent: false },
      { says: 'yes that is me' },
      { pauses: 500 },
      { agent: true },
      { pauses: 1000 },
      { agent: false },
      { says: 'you can leave a message after the tone' },
    ]
    expect(classesOf(detect(talk))).toEqual(['human'])
  })

  it('without a verdict by the timeout nothing is decided any more', () => {
    const noise: AnswerStep[] = [{ tone: 'ringback', hz: 440, ms: 4000 }, { pauses: 3000 }, { says: 'hello' }]
    const outputs = detect(noise, { timeoutMs: 2000 })
    expect(outputs).toEqual([{ atMs: 2000, type: 'undecided' }])
  })

  it('early media is an announcement or nothing: a person is not found before the answer', () => {
    expect(classesOf(detect([], { early: [{ says: 'hello who is this' }, { pauses: 500 }], untilMs: 100 }))).toEqual([])
    expect(
      classesOf(detect([], { early: [{ says: 'the number you have dialed is not in service' }], untilMs: -1 })),
    ).toEqual(['announcement'])
  })

  it('after a screener someone else is detected anew', () => {
    const steps: AnswerStep[] = [
      { says: 'please state your name and the reason for your call' },
      { pauses: 1000 },
      { rearm: true },
      { pauses: 3000 },
      { says: 'hello' },
    ]
    expect(classesOf(detect(steps))).toEqual(['screener', 'human'])
  })

  it('words of a screener that come after it was answered do not hide the person who comes', () => {
    const question = 'say your name and why you are calling'
    const steps: AnswerStep[] = [
      { says: question, lateMs: 4000 },
      { pauses: 6000 },
      { rearm: true },
      { pauses: 1000 },
      { says: 'hello' },
    ]
    expect(classesOf(detect(steps)).at(-1)).toBe('human')
  })

  it('a person who speaks while a screener is answered is found when the answer is over', () => {
    const asks: AnswerStep[] = [{ says: 'say your name and why you are calling' }, { pauses: 1500 }, { agent: true }]
    const over: AnswerStep[] = [{ agent: false }, { rearm: true }]
    const comes = (words: boolean) => [...asks, { says: 'hello', words }, { pauses: 1200 }, ...over, { pauses: 3000 }]
    expect(classesOf(detect(comes(true)))).toEqual(['screener', 'human'])
    // Sound without words may be the echo of the agent.
    expect(classesOf(detect(comes(false)))).toEqual(['screener'])
  })

  it('a screener that was taken for a mailbox waits for its answer, too', () => {
    const late: AnswerStep = { says: 'say your name and why you are calling', lateMs: 4000 }
    const outputs = detect([{ says: 'the person you are calling' }, late, { pauses: 5000 }])
    expect(classesOf(outputs)).toEqual(['voicemail', 'screener'])
    expect(outputs.filter(output => output.type === 'greeting-over')).toHaveLength(2)
  })
})

describe('a message may begin', () => {
  it('at the end of the beep', () => {
    const outputs = detect([{ says: GREETING }, { pauses: 800 }, { tone: 'tone', hz: 1000, ms: 400 }])
    const end = GREETING.split(' ').length * 300 + 800 + 400
    expect(outputs.find(({ type }) => type === 'greeting-over')).toMatchObject({ cause: 'beep' })
    expect(at(outputs, 'greeting-over')).toBe(end + 50)
  })

  it('after 2.5 s of silence where no beep comes, and after 4 s where one is announced', () => {
    const plain = 'sorry I missed your call leave a message'
    const end = (text: string) => text.split(' ').length * 300
    expect(at(detect([{ says: plain }]), 'greeting-over')).toBe(end(plain) + 2500)
    expect(at(detect([{ says: GREETING }], { untilMs: 20_000 }), 'greeting-over')).toBe(end(GREETING) + 4000)
  })

  it('at the end of a beep that a lost packet splits, and of one whose end it hides', () => {
    const beep: AnswerStep = { tone: 'tone', hz: 1000, ms: 100, isIsolated: false, isPure: false }
    const split = detect([{ says: GREETING }, { pauses: 800 }, beep, { pauses: 20 }, { ...beep, isIsolated: true }])
    const end = GREETING.split(' ').length * 300 + 800
    expect(split.find(({ type }) => type === 'greeting-over')).toMatchObject({ cause: 'beep', at: end + 220 })
    const voiced: AnswerStep = { ...beep, ms: 400, voicedMs: 440 }
    const hidden = detect([{ says: GREETING }, { pauses: 800 }, voiced, { pauses: 2000 }])
    expect(hidden.find(({ type }) => type === 'greeting-over')).toMatchObject({ cause: 'beep', at: end + 440 })
  })

  it('at the end of a beep whose first part is as long as a beep, and not between its parts', () => {
    const beep: AnswerStep = { tone: 'tone', hz: 750, ms: 250 }
    const voiced: AnswerStep = { ...beep, voicedMs: 520 }
    const outputs = detect([{ says: GREETING }, { pauses: 800 }, voiced, { pauses: 20 }, beep, { pauses: 2000 }])
    const end = GREETING.split(' ').length * 300 + 800 + 520
    const over = outputs.filter(({ type }) => type === 'greeting-over')
    expect(over).toMatchObject([{ cause: 'beep', at: end }])
    expect(over[0]!.atMs).toBeLessThanOrEqual(end + 100)
  })

  it('at the end of a short beep that is purer than a vowel', () => {
    const outputs = detect([{ says: GREETING }, { pauses: 800 }, { tone: 'tone', hz: 1400, ms: 160, isPure: true }])
    expect(outputs.find(({ type }) => type === 'greeting-over')).toMatchObject({ cause: 'beep' })
  })

  it('at the end of a beep after silence of which noise hides the start, which is no beep right after words', () => {
    const beep: AnswerStep = { tone: 'tone', hz: 620, ms: 350, hiddenMs: 220, voicedMs: 600, isPure: false }
    const after = (ms: number) => detect([{ says: GREETING }, { pauses: ms }, beep, { pauses: 3000 }])
    const end = GREETING.split(' ').length * 300 + 800 + 350
    expect(after(800).find(({ type }) => type === 'greeting-over')).toMatchObject({ cause: 'beep', at: end })
    expect(after(100).find(({ type }) => type === 'greeting-over')).toMatchObject({ cause: 'silence' })
  })

  it('at the end of a long pure tone, whatever follows it', () => {
    const beep: AnswerStep = { tone: 'tone', hz: 750, ms: 600, isIsolated: false, voicedMs: 1200 }
    const outputs = detect([{ says: GREETING }, { pauses: 800 }, beep, { pauses: 2000 }])
    const end = GREETING.split(' ').length * 300 + 800 + 600
    expect(outputs.find(({ type }) => type === 'greeting-over')).toMatchObject({ cause: 'beep', at: end })
  })

  it('at the end of a beep after which noise goes on as voice', () => {
    const beep: AnswerStep = { tone: 'tone', hz: 1000, ms: 300, voicedMs: 900 }
    const outputs = detect([{ says: GREETING }, { pauses: 800 }, beep, { pauses: 2000 }])
    const end = GREETING.split(' ').length * 300 + 800 + 300
    expect(outputs.find(({ type }) => type === 'greeting-over')).toMatchObject({ cause: 'beep', at: end })
  })

  it('a message may begin again after a greeting that went on after a long pause', () => {
    const steps: AnswerStep[] = [
      { says: 'leave a message for John' },
      { pauses: 3000 },
      { says: 'or call back tomorrow' },
      { pauses: 500 },
      { tone: 'tone', hz: 850, ms: 300 },
    ]
    expect(detect(steps).map(({ type }) => type)).toEqual([
      'verdict',
      'greeting-over',
      'greeting-resumed',
      'greeting-over',
    ])
  })

  it('a message does not begin at a tone of 130 ms, which is a vowel', () => {
    const steps: AnswerStep[] = [
      { says: 'leave a message' },
      { tone: 'tone', hz: 430, ms: 130, isPure: false },
      { pauses: 300 },
    ]
    const outputs = detect([...steps, { says: 'after the beep' }, { pauses: 500 }, { tone: 'tone', hz: 1000, ms: 300 }])
    expect(outputs.filter(({ type }) => type === 'greeting-over')).toHaveLength(1)
    expect(at(outputs, 'greeting-over')).toBe(900 + 130 + 300 + 900 + 500 + 300 + 50)
  })

  it('a message never begins before the beep that ends the greeting, however long the greeting pauses', () => {
    const steps: AnswerStep[] = [{ says: 'leave a message' }, { pauses: 2000 }, { says: 'thanks' }, { pauses: 2000 }]
    expect(
      detect([...steps, { tone: 'tone', hz: 1400, ms: 500 }]).filter(({ type }) => type === 'greeting-over'),
    ).toMatchObject([{ cause: 'beep' }])
  })
})
