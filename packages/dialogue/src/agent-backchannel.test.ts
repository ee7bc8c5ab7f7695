import { describe, expect, it } from 'vitest'
import type { DialogueOptions } from './protocol.ts'
import { ScriptedCall } from './testing/scripted-call.ts'

const said = (call: ScriptedCall) => call.said.filter(line => line.includes('backchannel'))

/** A caller who tells a long story: phrases of about two seconds with pauses of `pauseMs`. */
function story(change: Partial<DialogueOptions['backchannel']>, pauseMs = 450, seed = 1): ScriptedCall {
  const backchannel = { enabled: true, frequency: 1, words: [], ...change }
  const call = new ScriptedCall({ backchannel }, {}, seed).connect()
  let at = 1000
  for (let i = 0; i < 12; i++) at = call.say(at, 'so then we drove all the way to the') + pauseMs
  return call
}

describe('the agent listens aloud', () => {
  it('in short pauses of a long turn, not more often than every 5 s', () => {
    const call = story({}).runTo(60_000)
    const times = said(call).map(line => Number.parseInt(line, 10))
    expect(times.length).toBeGreaterThan(3)
    expect(times[0]).toBeGreaterThan(4000)
    for (const [i, time] of times.entries()) if (i > 0) expect(time - times[i - 1]!).toBeGreaterThanOrEqual(5000)
    expect(call.turns).toHaveLength(1)
  })

  it('in its own words or those of the language', () => {
    expect(new Set(said(story({ words: ['go on'] }).runTo(60_000)).map(line => line.replace(/^\d+ /, '')))).toEqual(
      new Set(['backchannel go on']),
    )
  })

  it('as often as it is set to', () => {
    const count = (frequency: number) => {
      let all = 0
      for (let seed = 1; seed <= 20; seed++) all += said(story({ frequency }, 450, seed).runTo(60_000)).length
      return all
    }
    expect(count(0)).toBe(0)
    expect(count(0.3)).toBeGreaterThan(10)
    expect(count(0.3)).toBeLessThan(count(1) * 0.8)
  })

  it('not unless it is enabled, nor in pauses too short for it', () => {
    expect(said(story({ enabled: false }).runTo(60_000))).toEqual([])
    expect(said(story({}, 180).runTo(33_000))).toEqual([])
  })

  it('not when the turn is over, nor when it has only begun', () => {
    const call = new ScriptedCall({ backchannel: { enabled: true, frequency: 1, words: [] } }).connect()
    call.say(1000, 'I drove to the')
    call.say(10_000, 'we drove all the way to the coast and back again in a single day.')
    expect(said(call.runTo(60_000))).toEqual([])
  })

  it('not while it speaks, is busy, or digits are entered', () => {
    const speaking = story({})
    speaking.settings({ interruptionSensitivity: 0 })
    expect(said(speaking.agentSpeaks(500, 60_000).runTo(60_000))).toEqual([])
    const busy = story({})
    busy.tell({ type: 'agent-busy', busy: true })
    expect(said(busy.runTo(60_000))).toEqual([])
    const entering = story({})
    entering.tell({ type: 'collect-digits', digitLimit: null, terminationKey: null, timeoutMs: 60_000 })
    expect(said(entering.press(500, '1').runTo(60_000))).toEqual([])
  })
})
