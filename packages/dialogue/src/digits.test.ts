import { describe, expect, it } from 'vitest'
import type { DigitRules } from './digit-collection.ts'
import { ScriptedCall } from './testing/scripted-call.ts'

function collecting(rules: Partial<DigitRules>, allowDtmfInterruption = false): ScriptedCall {
  const call = new ScriptedCall({ settings: { allowDtmfInterruption } }).connect()
  call.input({ type: 'collect-digits', digitLimit: null, terminationKey: null, timeoutMs: 2000, ...rules })
  return call
}

describe('digits', () => {
  it('digits are complete at the digit limit', () => {
    const call = collecting({ digitLimit: 4 }).press(1000, '1234567').runTo(20_000)
    expect(call.timedEvents.slice(1)).toEqual(['1600 digits 1234', '4200 digits 567'])
  })

  it('digits are complete at the termination key, which is not part of them', () => {
    const call = collecting({ terminationKey: '#' }).press(1000, '12*#7#').runTo(20_000)
    expect(call.timedEvents.slice(1)).toEqual(['1600 digits 12*', '2000 digits 7'])
  })

  it('digits are complete when the timeout after the last one is over', () => {
    const call = collecting({ timeoutMs: 1500 }).press(1000, '12', 1400).runTo(20_000)
    expect(call.timedEvents.slice(1)).toEqual(['3900 digits 12'])
    expect(call.outputs.at(-1)!.output).toMatchObject({ digits: '12', atMs: 1_002_400 })
  })

  it('digits are complete 3 s after the last one by default', () => {
    const call = new ScriptedCall().connect().press(1000, '9').runTo(20_000)
    expect(call.timedEvents.slice(1)).toEqual(['4000 digits 9'])
  })

  it('new collection rules apply at once to digits entered before', () => {
    const call = collecting({}).press(1000, '123')
    call.at(1500, () => call.input({ type: 'collect-digits', digitLimit: 2, terminationKey: null, timeoutMs: 2000 }))
    expect(call.runTo(20_000).timedEvents.slice(1)).toEqual(['1500 digits 123'])
  })

  it('a collection holds at most 100 digits, and nothing that is not a digit', () => {
    const call = collecting({}).press(1000, `${'7'.repeat(130)}`, 10)
    call.at(5000, () => call.input({ type: 'digit', digit: '12' }))
    call.at(5000, () => call.input({ type: 'digit', digit: 'x' }))
    call.runTo(30_000)
    expect(call.events.slice(1)).toEqual([`digits ${'7'.repeat(100)}`, `digits ${'7'.repeat(30)}`])
  })

  it('keys that are pressed while the agent ends the call are reported as unused, and none after the call', () => {
    const call = new ScriptedCall({ maxCallDurationMs: 5000 }).connect().press(4000, '1').press(6000, '2')
    call.at(7000, () => call.input({ type: 'ended' }))
    call.press(8000, '3').runTo(20_000)
    expect(call.timedEvents.slice(1)).toEqual(['5000 unused digits 1', '5000 max-duration', '6000 unused digits 2'])
  })

  it('digits wait for the end of the agent’s speech while they may not interrupt it', () => {
    const call = collecting({ digitLimit: 2 }).agentSpeaks(500, 9000).press(1000, '1234').runTo(20_000)
    expect(call.timedEvents.slice(1)).toEqual(['9000 digits 12', '9000 digits 34'])
  })

  it('of digits that wait for the agent the first 100 are used', () => {
    const call = collecting({ digitLimit: 50 }).agentSpeaks(500, 90_000).press(1000, '8'.repeat(400), 10).runTo(95_000)
    const fifty = '8'.repeat(50)
    const unused = Array.from({ length: 6 }, () => `unused digits ${fifty}`)
    expect(call.events.slice(1)).toEqual([...unused, `digits ${fifty}`, `digits ${fifty}`])
  })

  it('a digit cuts the agent short where digits may interrupt', () => {
    const call = collecting({ digitLimit: 2 }, true).agentSpeaks(500, 9000).press(1000, '12').runTo(20_000)
    expect(call.timedEvents.slice(1)).toEqual(['1000 cut', '1200 digits 12'])
  })

  it('digits cut a paused agent once and restore full volume', () => {
    const call = collecting({ digitLimit: 2 }, true).agentSpeaks(500, 9000).voice(800, 1900).press(1500, '12')
    expect(call.runTo(20_000).events).toEqual(['begin', 'duck', 'pause', 'cut', 'unduck', 'digits 12'])
  })

  it('a termination key alone does not cut the agent short', () => {
    const call = collecting({ terminationKey: '#' }, true).agentSpeaks(500, 9000).press(1000, '#').runTo(20_000)
    expect(call.events).toEqual(['begin', 'unused digits #'])
  })

  it('words spoken between digits end neither the collection nor the turn', () => {
    const call = collecting({ timeoutMs: 4000 }).press(1000, '12')
    call.say(1500, 'one moment it is on the back.')
    call.press(5000, '34')
    call.runTo(20_000)
    expect(call.events).toEqual(['begin', 'turn one moment it is on the back.', 'digits 1234'])
  })

  it('digits entered before the agent begins are reported after it began', () => {
    const call = new ScriptedCall({ beginMessageDelayMs: 5000 }).connect().press(100, '42').runTo(20_000)
    expect(call.timedEvents).toEqual(['5000 begin', '5000 digits 42'])
  })

  describe('with a question', () => {
    const menu = (question: number, answers: readonly string[] | null = ['1', '2', '3'], change = {}) =>
      ({ question, answers, digitLimit: null, terminationKey: null, timeoutMs: 2000, ...change }) as const
    const asking = (sensitivity = 1) => {
      const call = new ScriptedCall({ settings: { interruptionSensitivity: sensitivity } }).connect()
      const ask = (at: number, rules: ReturnType<typeof menu>) =>
        call.at(at, () => call.input({ type: 'collect-digits', ...rules }))
      return { call, ask }
    }

    it('a key that completes the only expectation of a menu is complete at once', () => {
      const { call, ask } = asking()
      ask(10, menu(1))
      call.press(1000, '2').runTo(20_000)
      expect(call.timedEvents.slice(1)).toEqual(['1000 digits 2 of 1'])
    })

    it('a key that no answer of the menu begins with is complete at once', () => {
      const { call, ask } = asking()
      ask(10, menu(1))
      call.press(1000, '9').runTo(20_000)
      expect(call.timedEvents.slice(1)).toEqual(['1000 digits 9 of 1'])
    })

    it('a key that begins a longer answer waits for the rest', () => {
      const { call, ask } = asking()
      ask(10, menu(1, ['1', '12', '3']))
      call.press(1000, '1').press(5000, '12').press(9000, '3')
      call.runTo(20_000)
      expect(call.timedEvents.slice(1)).toEqual(['3000 digits 1 of 1', '5200 digits 12 of 1', '9000 digits 3 of 1'])
    })

    it('the termination key alone is an answer where the question waits for it', () => {
      const { call, ask } = asking()
      ask(10, menu(1, ['#', '1'], { terminationKey: '#' }))
      call.press(1000, '#').runTo(20_000)
      expect(call.timedEvents.slice(1)).toEqual(['1000 digits # of 1'])
    })

    it('a question that is decided by voice takes the digits that were entered for it with it', () => {
      const { call, ask } = asking()
      ask(10, menu(1, null))
      call.press(1000, '1').say(1100, 'Tuesday.')
      ask(2000, menu(2))
      call.runTo(20_000)
      expect(call.events.slice(1)).toEqual(['turn Tuesday.', 'unused digits 1'])
    })

    it('a key that is pressed while words are spoken decides, and the words are no turn of the next question', () => {
      const { call, ask } = asking()
      ask(10, menu(1))
      call.agentSpeaks(100, 8000)
      call.say(1000, 'one please')
      call.press(1400, '1')
      ask(1401, menu(2))
      call.at(1450, () => call.agentSpeaking(true))
      call.at(6000, () => call.agentSpeaking(false))
      call.runTo(20_000)
      expect(call.events.filter(event => !['duck', 'unduck', 'pause', 'resume'].includes(event)).slice(1)).toEqual([
        'cut',
        'aside one',
        'digits 1 of 1',
        'aside please',
      ])
      expect(call.events.filter(event => event.startsWith('turn'))).toEqual([])
    })

    it('words that were recognised before the key are reported beside it', () => {
      const { call, ask } = asking()
      ask(10, menu(1))
      call.say(1000, 'number one')
      call.press(1750, '1')
      call.runTo(20_000)
      expect(call.events.slice(1)).toEqual(['aside number one', 'digits 1 of 1'])
    })

    it('words of a voice that the key was pressed into answer no later question', () => {
      const { call, ask } = asking()
      ask(10, menu(1))
      call.say(1000, 'Tuesday would be good')
      call.press(1030, '1')
      ask(1031, menu(2))
      call.runTo(20_000)
      expect(call.events.slice(1)).toEqual(['digits 1 of 1', 'aside Tuesday would be good'])
    })

    it('words that begin just after the key belong to it, and a later sentence is a turn', () => {
      const { call, ask } = asking()
      ask(10, menu(1))
      call.press(1000, '1')
      ask(1001, menu(2))
      call.say(1200, 'Tuesday please')
      call.agentSpeaks(2200, 3000)
      call.say(4000, 'the first one')
      call.runTo(20_000)
      expect(call.events.slice(1)).toEqual(['digits 1 of 1', 'aside Tuesday please', 'turn the first one'])
    })

    it('words after the agent began to answer the key are a turn', () => {
      const { call, ask } = asking()
      ask(10, menu(1))
      call.press(1000, '1')
      ask(1001, menu(2))
      call.agentSpeaks(1150, 1350)
      call.say(1400, 'the first one')
      call.runTo(20_000)
      expect(call.events.slice(1)).toEqual(['digits 1 of 1', 'turn the first one'])
    })

    it('a caller who talks on for more than 3 s after the key is heard', () => {
      const { call, ask } = asking()
      ask(10, menu(1))
      call.say(1000, 'one and then I want to ask you about the bill that came on Monday')
      call.press(1400, '1')
      ask(1401, menu(2))
      call.runTo(30_000)
      expect(call.events.at(-1)).toMatch(/^turn .*Monday$/)
    })

    it('a key cuts a sentence that may be interrupted, and not one that may not', () => {
      const { call, ask } = asking()
      ask(10, menu(1))
      call.agentSpeaks(500, 9000).press(1000, '1').runTo(20_000)
      expect(call.timedEvents.slice(1)).toEqual(['1000 cut', '1000 digits 1 of 1'])
      const firm = asking(0)
      firm.ask(10, menu(1))
      firm.call.agentSpeaks(500, 9000).press(1000, '1').runTo(20_000)
      expect(firm.call.timedEvents.slice(1)).toEqual(['9000 digits 1 of 1'])
    })

    it('a voice without words is no turn while digits are entered', () => {
      const { call, ask } = asking()
      ask(10, menu(1, null))
      call.mumble(1000, 1600).press(1200, '4').runTo(20_000)
      expect(call.events.slice(1)).toEqual(['digits 4 of 1'])
    })

    it('digits that are not complete when the call ends are reported as unused', () => {
      const { call, ask } = asking()
      ask(10, menu(1, null))
      call.press(1000, '12')
      call.at(1500, () => call.input({ type: 'ended' }))
      expect(call.runTo(20_000).events.slice(1)).toEqual(['unused digits 12'])
    })
  })
})
