import { describe, expect, it } from 'vitest'
import { ScriptedCall } from './testing/scripted-call.ts'

function asked(agentWords: string): ScriptedCall {
  const call = new ScriptedCall().connect()
  call.input({ type: 'question', question: { agentWords, conditions: [], fields: [] } })
  return call
}

/** Silence that ends the caller's only turn, ms. */
function waitFor(question: string, answer: string): number {
  const call = asked(question)
  const until = call.say(1000, answer)
  call.runTo(20_000)
  expect(call.turns.map(turn => turn.text)).toEqual([answer])
  return call.turns[0]!.givenMs - until
}

describe('endpointing with a known question', () => {
  it.each([
    ['Which day would you like?', 'Monday'],
    ['What time suits you?', 'tomorrow morning'],
    ['Would you like the first or the second one?', 'the first one'],
    ['Shall I book it?', 'yes'],
    ['How many people?', 'four'],
    ['What is your phone number?', 'four one five five five five two six seven one'],
    ['Please tell me your four digit code.', '4071'],
    ['May I have your name?', 'John Smith'],
    ['¿Qué día le viene bien?', 'el lunes'],
    ['¿Cómo se llama usted?', 'me llamo Ana Torres'],
  ])('"%s" is answered by "%s" within 400 ms', (question, answer) => {
    // 100 ms of it are the recogniser's answer to finalize.
    expect(waitFor(question, answer)).toBeLessThanOrEqual(400)
  })

  it.each([
    ['May I have your name?', 'My name is'],
    ['What is your account number?', 'my number is'],
    ['Please tell me your four digit code.', 'four zero'],
    ['What is your phone number?', 'six one seven five five five'],
    ['¿Cómo se llama usted?', 'me llamo'],
    ['How can I help?', 'my name is'],
  ])('after "%s" the words "%s" are waited on for 3 s and more, and look unfinished', (question, words) => {
    expect(waitFor(question, words)).toBeGreaterThanOrEqual(3000)
  })

  it.each([
    ['What is your booking number?', 'Three.'],
    ['What is your booking number?', 'Three. One.'],
    ['What is your address?', 'Bridge Street.'],
    ['¿A qué dirección la llevamos?', 'Calle de la Princesa'],
    ['¿Qué le pongo?', 'Quiero una'],
  ])('after "%s" the words "%s" are waited on for more than 1.2 s', (question, words) => {
    expect(waitFor(question, words)).toBeGreaterThan(1200)
  })

  it('a value that the flow will read answers an open question at once', () => {
    const field = {
      name: 'pizza',
      description: 'Which pizza',
      type: 'enum',
      choices: ['margarita', 'cuatro quesos'],
    } as const
    for (const answer of ['Margarita', 'cuatro quesos']) {
      const call = new ScriptedCall().connect()
      call.input({ type: 'question', question: { agentWords: '¿Qué desea?', conditions: [], fields: [field] } })
      const until = call.say(1000, answer)
      call.runTo(20_000)
      expect(call.turns[0]!.givenMs - until).toBeLessThanOrEqual(400)
    }
  })

  it('a word of the conditions that choose an edge answers an open question at once, and a beginning of them does not', () => {
    const conditions = ['The caller wants to book, make or get an appointment, or to see a doctor']
    const waited = (answer: string) => {
      const call = new ScriptedCall().connect()
      call.input({ type: 'question', question: { agentWords: 'How can I help you?', conditions, fields: [] } })
      const until = call.say(1000, answer)
      call.runTo(20_000)
      return call.turns[0]!.givenMs - until
    }
    expect(waited('Appointment')).toBeLessThanOrEqual(400)
    expect(waited('an appointment')).toBeLessThanOrEqual(400)
    for (const beginning of ['see a', 'wants', 'to see']) expect(waited(beginning)).toBeGreaterThan(600)
  })

  it('a number is complete with as many digits as the examples of its field have', () => {
    const field = { name: 'order', description: 'The number', type: 'string', examples: ['101', '4021'] } as const
    const waited = (answer: string, examples: readonly string[]) => {
      const call = new ScriptedCall().connect()
      const question = { agentWords: 'What is your order number?', conditions: [], fields: [{ ...field, examples }] }
      call.input({ type: 'question', question })
      const until = call.say(1000, answer)
      call.runTo(20_000)
      return call.turns[0]!.givenMs - until
    }
    expect(waited('one zero one', field.examples)).toBeLessThanOrEqual(400)
    expect(waited('four zero two one', field.examples)).toBeLessThanOrEqual(400)
    expect(waited('one zero', field.examples)).toBeGreaterThan(1000)
    expect(waited('one zero one', ['101', 'A4'])).toBeGreaterThan(600)
    expect(waited('one zero one', [])).toBeGreaterThan(600)
  })

  it('an address ends with the number of the house and a full stop', () => {
    expect(waitFor('¿A qué dirección la llevamos?', 'Calle de la Princesa número doce.')).toBeLessThanOrEqual(400)
    expect(waitFor('What is your address?', 'Bridge Street 12.')).toBeLessThanOrEqual(400)
    expect(waitFor('¿A qué dirección la llevamos?', 'calle Mayor cinco')).toBeGreaterThan(500)
  })

  it.each([
    ['¿La quiere pequeña, mediana o grande?', 'Eh, no sé.'],
    ['Would you like the first or the second one?', "Uh, I don't know."],
    ['Which day would you like?', "Um, I'm not sure."],
  ])('after "%s" a caller who thinks aloud ("%s") is waited for', (question, words) => {
    expect(waitFor(question, words)).toBeGreaterThanOrEqual(3000)
  })

  it('a caller who does not know the answer is answered at once', () => {
    expect(waitFor('¿La quiere pequeña, mediana o grande?', 'No sé.')).toBeLessThanOrEqual(1200)
    expect(waitFor('Would you like the first or the second one?', "I don't know.")).toBeLessThanOrEqual(1200)
  })

  it('words after an announcement join the turn', () => {
    const call = asked('May I have your name?')
    call.say(1000, 'My name is')
    call.say(3300, 'John Smith')
    call.runTo(20_000)
    expect(call.events.slice(1)).toEqual(['turn My name is John Smith'])
    expect(call.turns[0]!.isUnfinished).toBe(false)
  })

  it('a number in two groups is one turn', () => {
    const call = asked('Please tell me your four digit code.')
    call.say(1000, 'four zero')
    call.say(3350, 'zero one')
    call.runTo(20_000)
    expect(call.events.slice(1)).toEqual(['turn four zero zero one'])
  })

  it('"what it is" and "it is" are waited on no longer than other words', () => {
    expect(waitFor('How can I help?', 'I do not know what it is')).toBeLessThan(2000)
    expect(waitFor('Is it yours?', 'yes it is')).toBeLessThan(600)
  })

  it('a short answer that the recogniser ends with a comma goes on', () => {
    expect(waitFor('Shall I book it?', 'Yes.')).toBeLessThan(500)
    expect(waitFor('Shall I book it?', 'Yes,')).toBeGreaterThan(900)
    const call = asked('Shall I book it?')
    call.say(call.say(1000, 'Yes,') + 400, 'please.')
    call.runTo(20_000)
    expect(call.events.slice(1)).toEqual(['turn Yes, please.'])
  })

  it('a lone "uh" is waited on for 5 s', () => {
    expect(waitFor('Which day would you like?', 'uh')).toBeGreaterThanOrEqual(4900)
    const call = asked('Which day would you like?')
    call.say(1000, 'uh')
    call.say(4500, 'Monday')
    call.runTo(20_000)
    expect(call.events.slice(1)).toEqual(['turn uh Monday'])
  })
})

describe('a turn that looked unfinished', () => {
  function after(rest: (call: ScriptedCall, until: number) => void): string[] {
    const call = asked('May I have your name?')
    rest(call, call.say(1000, 'My name is'))
    call.runTo(20_000)
    const turn = call.outputs.find(({ output }) => output.type === 'turn')!
    expect(turn.output).toMatchObject({ turn: { isUnfinished: true } })
    return call.outputs.flatMap(({ at, output }) => {
      if (output.type === 'turn-settled') return [`${at - turn.at} ${output.settled ? 'settled' : 'sounds'}`]
      return output.type === 'turn-continued' ? [`${at - turn.at} continued`] : []
    })
  }

  it('a turn that looked unfinished is settled 700 ms after it when the caller makes no sound', () =>
    expect(after(() => {})).toEqual(['700 settled']))

  it('a turn that looked unfinished is continued by new words', () =>
    expect(after((call, until) => call.say(until + 3500, 'John Smith'))).toEqual(['600 continued']))

  it('a turn that looked unfinished is settled when the caller has made no sound for 700 ms', () =>
    expect(after((call, until) => call.voice(until + 3600, until + 4000))).toEqual(['1400 settled']))

  it('a turn that looked unfinished is not settled any more while the caller makes a sound again', () =>
    expect(after((call, until) => call.voice(until + 5000, until + 5500))).toEqual([
      '700 settled',
      '1760 sounds',
      '2900 settled',
    ]))

  it('a turn that looks complete needs no settling', () => {
    const call = asked('Which day would you like?')
    call.say(1000, 'Monday')
    call.runTo(20_000)
    expect(call.outputs.map(({ output }) => output.type)).not.toContain('turn-settled')
  })
})
