import { expect, it } from 'vitest'
import { proveLiveUpdates } from './live-updates.ts'

it('live updates take effect before the next turn, event streams resume without gaps or duplicates, and planted faults are reported', async () => {
  const lines: object[] = []
  const line = (record: object) => lines.push(record)
  const options = { seed: 1, count: 2, seconds: 120, line, progress: () => {} }
  const { ok, summary } = await proveLiveUpdates(options, { updates: 1, stops: 1, killsEngine: false })
  expect(ok, JSON.stringify([summary, ...lines])).toBe(true)
  expect(summary).toMatchObject({ calls: 2, updates: 4, late_updates: 2, planted_found: 3, faults: 0 })
})
