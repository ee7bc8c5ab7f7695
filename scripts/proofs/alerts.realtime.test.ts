import { describe, expect, it } from 'vitest'
import { proveAlerts } from './alerts.ts'

describe('the proof "alerts"', { timeout: 600_000 }, () => {
  it('every metric fires and recovers, every reason for no value comes up, and a killed worker pages nobody twice', async () => {
    const lines: object[] = []
    const options = {
      seed: 1,
      count: 3,
      seconds: 300,
      line: (record: object) => lines.push(record),
      progress: () => {},
    }
    const { ok, summary } = await proveAlerts(options)
    expect(ok, JSON.stringify([summary, ...lines])).toBe(true)
    expect(summary).toMatchObject({ faults: 0, planted_noticed: true })
  })
})
