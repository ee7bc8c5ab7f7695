import { expect, it } from 'vitest'
import { UsageTotals } from './usage-totals.ts'

const used = (quantity: number) => ({ meter: 'stt_ms', provider: 'p', model_id: null, quantity }) as const

it('what was added since the last call is whole, and all calls together make the total', () => {
  const totals = new UsageTotals()
  expect(totals.takeNew()).toEqual([])
  totals.add(used(0.4))
  expect(totals.takeNew()).toEqual([used(1)])
  totals.add(used(0.4))
  expect(totals.takeNew()).toEqual([])
  totals.add(used(2))
  expect(totals.takeNew()).toEqual([used(2)])
  expect(totals.measurements).toEqual([used(3)])
})
