import { SeededRandom } from '@parley/kernel'
import { expect, it } from 'vitest'
import { service } from './dns.fixture.ts'
import { orderSrv } from './srv-order.ts'

it('RFC 2782: priorities ascend, weights share the load, none is left out', () => {
  const records = [
    service(2, 0, 1, 'backup'),
    service(1, 60, 1, 'big'),
    service(1, 20, 1, 'small'),
    service(1, 20, 1, 'other'),
    service(1, 0, 1, 'idle'),
  ]
  const random = new SeededRandom(7)
  const first = new Map<string, number>()
  for (let i = 0; i < 2000; i++) {
    const ordered = orderSrv(records, random).map(record => record.target)
    expect([...ordered].sort()).toEqual(['backup', 'big', 'idle', 'other', 'small'])
    expect(ordered.at(-1)).toBe('backup')
    first.set(ordered[0]!, (first.get(ordered[0]!) ?? 0) + 1)
  }
  expect(first.get('big')! / 2000).toBeCloseTo(0.6, 1)
  expect(first.get('small')! / 2000).toBeCloseTo(0.2, 1)
  // "a very small chance of being selected" next to real weights
  expect(first.get('idle') ?? 0).toBeLessThan(60)
})
