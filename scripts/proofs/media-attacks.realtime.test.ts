import { describe, expect, it } from 'vitest'
import { proveMediaAttacks } from './media-attacks.ts'

const options = { seed: 1, seconds: 60, line: () => {}, progress: () => {} }

describe('a third party at the RTP port of a live call', () => {
  it('sends 100,000 packets to SRTP and to plain RTP: none is accepted, none is sent back, the audio is unharmed', {
    timeout: 120_000,
  }, async () => {
    const lines: object[] = []
    const { ok } = await proveMediaAttacks({ ...options, count: 100_000, line: record => lines.push(record) })
    expect(ok, lines.map(record => JSON.stringify(record)).join('\n')).toBe(true)
  })

  it.each(['a mute phone', 'a packet for the attacker'] as const)(
    'fails the proof where there is %s',
    {
      timeout: 60_000,
    },
    async planted => {
      const { ok } = await proveMediaAttacks({ ...options, count: 20_000 }, planted)
      expect(ok).toBe(false)
    },
  )
})
