import { describe, expect, it } from 'vitest'
import { proveTollFraud } from './toll-fraud.ts'

describe('attempts to place a call to a forbidden destination', { timeout: 300_000 }, () => {
  it('no INVITE and no REFER to a forbidden number reaches the carrier, and one does after staff allow it', async () => {
    const lines: object[] = []
    const given = { seed: 1, count: 2, seconds: 120, line: (record: object) => lines.push(record), progress: () => {} }
    const { ok, summary } = await proveTollFraud(given)
    expect(ok, JSON.stringify([summary, ...lines])).toBe(true)
    expect(summary).toEqual({ tries: 8, faulty: 0, planted_noticed: true })
  })
})
