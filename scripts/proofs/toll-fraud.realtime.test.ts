import { describe, expect, it } from 'vitest'
import { proveTollFraud } from './toll-fraud.ts'

describe('the proof "toll-fraud"', () => {
  it('no INVITE and no REFER to a forbidden number reaches the carrier, but one does after staff allow the number', async () => {
    const lines: object[] = []
    const options = {
      seed: 1,
      count: 2,
      seconds: 120,
      line: (record: object) => lines.push(record),
      progress: () => {},
    }
    const { ok, summary } = await proveTollFraud(options)
    expect(ok, JSON.stringify([summary, ...lines])).toBe(true)
    expect(summary).toEqual({ tries: 8, faulty: 0, planted_noticed: true })
  })
})
