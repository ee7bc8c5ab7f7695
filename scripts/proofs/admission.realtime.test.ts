import { describe, expect, it } from 'vitest'
import { proveAdmission } from './admission.ts'

describe('the proof "admission"', () => {
  it('many runs created at once are admitted up to each limit and no further, by the calls that the carrier counts', async () => {
    const lines: object[] = []
    const short = { capacity: 10, dailyLimit: 25, dollars: 4, callMs: 4000 }
    const options = {
      seed: 1,
      count: 60,
      seconds: 120,
      line: (record: object) => lines.push(record),
      progress: () => {},
    }
    const { ok, summary } = await proveAdmission(options, short)
    expect(ok, JSON.stringify([summary, ...lines])).toBe(true)
    expect(summary).toMatchObject({ most_at_once: 10, faults: 0, planted_noticed: true })
  })
})
