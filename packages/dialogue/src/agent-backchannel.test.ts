import { describe, expect, it } from 'vitest'
import type { DialogueOptions } from './protocol.ts'
import { ScriptedCall } from './testing/scripted-call.ts'

const backchannelsOf = (call: ScriptedCall) => call.timedEvents.filter(line => line.includes('backchannel'))

/** A caller who tells a long story: phrases of about two seconds with pauses of `pauseMs`. */
function story(change: Partial<DialogueOptions['backchannel']>, pauseMs = 450, seed = 1): ScriptedCall {
  const backchannel = { enabled: true, frequency: 1, words: [], ...change }
  const call = new ScriptedCall({ backchannel }, {}, seed).connect()
  let at = 1000
  for (let i = 0; i < 12; i++) at = call.say(at, 'so then we drove all the way to the') + pauseMs
  return call
}

describe('backchannels of the agent', () => {
  it('a backchannel is spoken in short pauses of a long turn, at most every 5 s', () => {
    const call = story({}).runTo(60_000)
    const times = backchannelsOf(call).map(line => Number.parseInt(line, 10))
    expect(times.length).toBeGreaterThan(3)
    expect(times[0]).toBeGreaterThan(4000)
    for (const [i, time] of times.entries()) if (i > 0) expect(time - times[i - 1]!).toBeGreaterThanOrEqual(5000)
    expect(call.turns).toHaveLength(1)
  })

  it('a backchannel uses the configured words, or else those of the language', () => {
    expect(
      new Set(backchannelsOf(story({ words: ['go on'] }).runTo(60_000)).map(line => line.replace(/^\d+ /, ''))),
    ).toEqual(new Set(['backchannel go on']))
  })

  it('backchannels are as frequent as configured', () => {
    const count = (frequency: number) => {
      let all = 0
      for (let seed = 1; seed <= 20; seed++) all += backchannelsOf(story({ frequency }, 450, seed).runTo(60_000)).length
      return all
    }
    expect(count(0)).toBe(0)
    expect(count(0.3)).toBeGreaterThan(10)
    expect(count(0.3)).toBeLessThan(count(1) * 0.8)
  })

  it('no backchannel is spoken while disabled, or in a pause that is too short', () => {
    expect(backchannelsOf(story({ enabled: false }).runTo(60_000))).toEqual([])
    expect(backchannelsOf(story({}, 180).runTo(33_000))).toEqual([])
  })

  it('no backchannel is spoken when the turn is over or has only begun', () => {
    const call = new ScriptedCall({ backchannel: { enabled: true, frequency: 1, words: [] } }).connect()
    call.say(1000, 'I drove to the')
    call.say(10_000, 'we drove all the way to the coast and back again in a single day.')
    expect(backchannelsOf(call.runTo(60_000))).toEqual([])
  })

  it('no backchannel is spoken while the agent speaks or is busy, or digits are entered', () => {
    const speaking = story({})
    speaking.settings({ interruptionSensitivity: 0 })
    expect(backchannelsOf(speaking.agentSpeaks(500, 60_000).runTo(60_000))).toEqual([])
    const busy = story({})
    busy.input({ type: 'agent-busy', busy: true })
    expect(backchannelsOf(busy.runTo(60_000))).toEqual([])
    const entering = story({})
    entering.input({ type: 'collect-digits', digitLimit: null, terminationKey: null, timeoutMs: 60_000 })
    expect(backchannelsOf(entering.press(500, '1').runTo(60_000))).toEqual([])
  })
})
