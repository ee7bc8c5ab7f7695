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

  it('digits wait for the end of the agent’s speech while they may not interrupt it', () => {
    const call = collecting({ digitLimit: 2 }).agentSpeaks(500, 9000).press(1000, '1234').runTo(20_000)
    expect(call.timedEvents.slice(1)).toEqual(['9000 digits 12', '9000 digits 34'])
  })

  it('digits that wait for the agent are bounded at 100', () => {
    const call = collecting({ digitLimit: 50 }).agentSpeaks(500, 90_000).press(1000, '8'.repeat(400), 10).runTo(95_000)
    expect(call.events.slice(1)).toEqual([`digits ${'8'.repeat(50)}`, `digits ${'8'.repeat(50)}`])
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
    expect(call.events).toEqual(['begin'])
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
})
