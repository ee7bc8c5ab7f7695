import { describe, expect, it } from 'vitest'
import { proveSlowSenders } from './slow-senders.ts'

const options = { seed: 1, seconds: 60, line: () => {}, progress: () => {} }

describe('connections that take their time', () => {
  it('hundreds at once: all closed in time, the call unharmed, the next caller answered', {
    timeout: 120_000,
  }, async () => {
    const lines: object[] = []
    const { ok, summary } = await proveSlowSenders({ ...options, count: 75, line: record => lines.push(record) })
    expect(ok, JSON.stringify([summary, ...lines])).toBe(true)
  })

  it('one that is still open is noticed', { timeout: 120_000 }, async () => {
    const { ok } = await proveSlowSenders({ ...options, count: 4 }, 'no time to be closed')
    expect(ok).toBe(false)
  })
})
