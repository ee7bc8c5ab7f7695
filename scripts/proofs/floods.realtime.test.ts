import { describe, expect, it } from 'vitest'
import { proveFloods } from './floods.ts'

const options = { seed: 1, seconds: 60, line: () => {}, progress: () => {} }

describe('the proof "floods": INVITE floods over UDP, TCP and TLS, with and without the token, during a live call', () => {
  it('12,000 INVITEs get 503 or no answer; memory stays bounded, the live call is unharmed and the next caller is answered', async () => {
    const lines: object[] = []
    const { ok } = await proveFloods({ ...options, count: 2000, line: record => lines.push(record) })
    expect(ok, lines.map(record => JSON.stringify(record)).join('\n')).toBe(true)
  })

  it.each(['a guessed token', 'a mute phone', 'forgotten memory'] as const)(
    'the proof fails on the planted fault "%s"',
    async planted => {
      const { ok } = await proveFloods({ ...options, count: 200 }, planted)
      expect(ok).toBe(false)
    },
  )
})
