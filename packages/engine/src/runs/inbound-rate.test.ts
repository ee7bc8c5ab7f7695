import type { InboundTrunk } from '@parley/store'
import { expect, it } from 'vitest'
import { InboundRate } from './inbound-rate.ts'

function trunk(trunk_id: string, inbound_cps?: number): InboundTrunk {
  const details = inbound_cps === undefined ? {} : { inbound_cps }
  return { trunk_id, scope: { tenant_id: 'tenant' }, details } as unknown as InboundTrunk
}

/** Calls that are taken when `calls` arrive at once. */
function taken(rate: InboundRate, trunks: readonly InboundTrunk[], calls: number, nowMs: number): number {
  let count = 0
  for (let call = 0; call < calls; call++) if (rate.take(trunks, nowMs)) count++
  return count
}

it('a trunk that floods gets the calls of two seconds, then as many per second as its setting says', () => {
  const rate = new InboundRate()
  const flooding = [trunk('a', 10)]
  expect(taken(rate, flooding, 1000, 0)).toBe(20)
  expect(taken(rate, flooding, 1000, 500)).toBe(5)
  expect(taken(rate, flooding, 1000, 1500)).toBe(10)
  expect(taken(rate, flooding, 1000, 60_000)).toBe(20)
})

it('a trunk without a setting may begin 100 calls per second', () => {
  const rate = new InboundRate()
  expect(taken(rate, [trunk('a')], 1000, 0)).toBe(200)
  expect(taken(rate, [trunk('a')], 1000, 1000)).toBe(100)
})

it('a flood of one trunk leaves the calls of another trunk', () => {
  const rate = new InboundRate()
  taken(rate, [trunk('a', 1)], 1000, 0)
  expect(taken(rate, [trunk('b', 1)], 1, 0)).toBe(1)
})

it('trunks at the same addresses share the sum of their rates', () => {
  const rate = new InboundRate()
  expect(taken(rate, [trunk('a', 1), trunk('b', 4)], 1000, 0)).toBe(10)
})
