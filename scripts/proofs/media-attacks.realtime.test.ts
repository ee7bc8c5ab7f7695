import { describe, expect, it } from 'vitest'
import { proveMediaAttacks } from './media-attacks.ts'

const options = { seed: 1, seconds: 60, line: () => {}, progress: () => {} }

describe('the proof "media-attacks": a third party at the RTP port of a live call', () => {
  it('100,000 packets of a third party to SRTP and plain RTP are neither accepted nor answered, and the audio is unharmed', {
    // Some 20 s, and 10 s more for each attack that is repeated because the machine was busy.
    timeout: 180_000,
  }, async () => {
    const lines: object[] = []
    const { ok } = await proveMediaAttacks({ ...options, count: 100_000, line: record => lines.push(record) })
    expect(ok, lines.map(record => JSON.stringify(record)).join('\n')).toBe(true)
  })

  it.each(['a mute phone', 'a packet for the attacker'] as const)(
    'the proof fails on the planted fault "%s"',
    async planted => {
      const { ok } = await proveMediaAttacks({ ...options, count: 20_000 }, planted)
      expect(ok).toBe(false)
    },
  )
})
