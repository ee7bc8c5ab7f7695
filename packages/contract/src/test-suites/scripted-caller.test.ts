import { describe, expect, it } from 'vitest'
import { callerVoice, scriptedCaller } from './scripted-caller.ts'

const script = (...steps: object[]) => scriptedCaller.safeParse({ kind: 'script', steps })

describe('the script of a caller of a test case', () => {
  it('a step has the defaults of the specification', () => {
    expect(script({ says: 'Hello.' }).data).toEqual({
      kind: 'script',
      steps: [{ says: 'Hello.', hangs_up: false, level_db: -20, pause_before_ms: 300 }],
    })
    expect(script({ plays: { kind: 'voicemail_greeting', text: 'Nobody is here.' } }).data?.steps[0]?.plays?.beep).toBe(
      true,
    )
  })

  it.each([
    ['1000 characters', { says: 'x'.repeat(1000) }, { says: 'x'.repeat(1001) }],
    ['a level of -60 to 0 dB', { level_db: -60 }, { level_db: 1 }],
    ['a silence of 500 ms to 10 minutes', { silence_ms: 600_000 }, { silence_ms: 499 }],
    ['a pause of 300 to 5000 ms', { pause_before_ms: 5000 }, { pause_before_ms: 299 }],
    ['an interruption within 15 s', { interrupt_at_ms: 0 }, { interrupt_at_ms: 15_001 }],
    ['keys of a telephone', { presses: '10*#A' }, { presses: '1 2' }],
    ['either words or a played message', { says: 'a' }, { says: 'a', plays: { kind: 'screener_prompt', text: 'b' } }],
    ['either silence or an interruption', { silence_ms: 500 }, { silence_ms: 500, interrupt_at_ms: 0 }],
    ['twenty nodes at most', { expect: { lands: ['a'] } }, { expect: { lands: Array(21).fill('a') } }],
    ['fields that are known', {}, { shouts: 'Hello' }],
  ])('a step takes %s', (_what, good, bad) => {
    expect(script(good).success).toBe(true)
    expect(script(bad).success).toBe(false)
  })

  it('a script has 1 to 30 steps, and only the last may end the call', () => {
    expect(script().success).toBe(false)
    expect(script(...Array(31).fill({})).success).toBe(false)
    expect(script({}, { hangs_up: true }).success).toBe(true)
    expect(script({ hangs_up: true }, {}).success).toBe(false)
    expect(script({ expect: { hung_up: true } }, {}).success).toBe(false)
  })
})

describe('the voice of a simulated caller', () => {
  it('a voice has a quiet telephone line by default', () => {
    expect(callerVoice.parse({ voice_id: 'slt' })).toEqual({
      voice_id: 'slt',
      rate: 1,
      channel: 'pstn',
      background: { kind: 'none', snr_db: 40 },
      echo: null,
      packet_loss: 0,
    })
  })

  it.each([
    { voice_id: '' },
    { voice_id: 'a', rate: 1.4 },
    { voice_id: 'a', background: { kind: 'rain' } },
    { voice_id: 'a', packet_loss: 0.6 },
    { voice_id: 'a', echo: { level_db: -2, delay_ms: 100 } },
  ])('the voice %o is refused', voice => {
    expect(callerVoice.safeParse(voice).success).toBe(false)
  })
})
