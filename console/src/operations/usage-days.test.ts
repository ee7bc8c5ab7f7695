import { expect, it } from 'vitest'
import { type UsageRow, usageDays, usageTotals } from './usage-days.ts'

const row = (key: string, runs: number, amount: string | null): UsageRow => ({
  key,
  runs,
  connected_ms: runs * 60_000,
  llm_input_tokens: 10,
  llm_output_tokens: null,
  stt_ms: null,
  tts_characters: 5,
  cost: { currency: 'USD', amount, completeness: amount === null ? 'unpriced' : 'complete' },
})

it('every day of the window has a column, also one without runs', () => {
  const plot = usageDays([row('2026-02-28', 3, '1.5'), row('2026-03-02', 1, null)], '2026-02-28', '2026-03-02')
  expect(plot.runs).toEqual([3, 0, 1])
  expect(plot.minutes).toEqual([3, 0, 1])
  expect(plot.cost).toEqual([1.5, 0, null])
  expect(plot.days.map(day => new Date(day * 1000).toISOString().slice(0, 10))).toEqual([
    '2026-02-28',
    '2026-03-01',
    '2026-03-02',
  ])
})

it('totals count what was measured', () => {
  expect(usageTotals([row('2026-03-01', 2, null), row('2026-03-02', 1, null)])).toEqual({
    runs: 3,
    minutes: 3,
    tokens: 20,
    characters: 10,
  })
})
