import { describe, expect, it } from 'vitest'
import { proveSlowSenders } from './slow-senders.ts'

const options = { seed: 1, seconds: 60, line: () => {}, progress: () => {} }

describe('the proof "slow-senders"', () => {
  it('hundreds of slow connections are closed in time, a live call is unharmed, and the next caller is answered', async () => {
    const lines: object[] = []
    const { ok, summary } = await proveSlowSenders({ ...options, count: 75, line: record => lines.push(record) })
    expect(ok, JSON.stringify([summary, ...lines])).toBe(true)
  })

  it('the proof fails when a slow connection is still open', async () => {
    const { ok } = await proveSlowSenders({ ...options, count: 4 }, 'no time to be closed')
    expect(ok).toBe(false)
  })
})
