import { describe, expect, it } from 'vitest'
import { DatagramBudget, DEFAULT_DATAGRAM_LIMITS } from './datagram-budget.ts'

const TRUNK = '192.0.2.1'

function budget(
  limits: Partial<typeof DEFAULT_DATAGRAM_LIMITS> = {},
  known: ReadonlySet<string> = new Set([TRUNK]),
  onFlood: (address: string) => void = () => {},
) {
  const hooks = { isKnownAddress: (address: string) => known.has(address), onFlood }
  return new DatagramBudget({ ...DEFAULT_DATAGRAM_LIMITS, ...limits }, hooks, 0)
}

/** How many of `perSecond` datagrams a second, evenly spaced over `seconds`, are read. */
function readOf(budget: DatagramBudget, address: (i: number) => string, perSecond: number, seconds: number): number {
  let read = 0
  for (let i = 0; i < perSecond * seconds; i++) if (budget.admits(address(i), (i * 1000) / perSecond)) read++
  return read
}

describe('the budget of datagrams', () => {
  it('a source that sends 48,000 datagrams a second is read at its own rate, and others lose nothing', () => {
    const budgets = budget()
    let flood = 0
    let others = 0
    for (let i = 0; i < 96_000; i++) {
      const now = i / 48
      if (budgets.admits('203.0.113.9', now)) flood++
      if (i % 480 === 0 && budgets.admits('198.51.100.7', now)) others++
    }
    expect(flood).toBeGreaterThan(4_100)
    expect(flood).toBeLessThanOrEqual(4_200)
    expect(others).toBe(200)
    expect(budgets.dropped).toBe(96_000 - flood)
  })

  it('forged source addresses share one budget, and a trunk keeps its own', () => {
    const budgets = budget()
    let forged = 0
    let trunk = 0
    for (let i = 0; i < 96_000; i++) {
      const now = i / 48
      if (budgets.admits(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`, now)) forged++
      if (i % 16 === 0 && budgets.admits(TRUNK, now)) trunk++
    }
    expect(forged).toBeLessThanOrEqual(3 * DEFAULT_DATAGRAM_LIMITS.unknownTotal)
    expect(trunk).toBe(6_000)
  })

  it('an unknown source far above its rate is reported as a flood; a trunk, a source a little above its rate, and forged addresses are not', () => {
    const floods = new Set<string>()
    const budgets = budget({}, new Set([TRUNK]), address => floods.add(address))
    readOf(budgets, () => '203.0.113.9', 48_000, 1)
    readOf(budgets, () => TRUNK, 48_000, 1)
    readOf(
      budget({}, new Set(), address => floods.add(address)),
      () => '203.0.113.8',
      3_500,
      5,
    )
    readOf(budgets, i => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`, 48_000, 1)
    expect([...floods]).toEqual(['203.0.113.9'])
  })

  it('a trunk has a limit as well', () => {
    const read = readOf(budget({ perKnownSource: 100 }), () => TRUNK, 1_000, 3)
    expect(read).toBeGreaterThanOrEqual(390)
    expect(read).toBeLessThanOrEqual(400)
  })

  it('an address that becomes known gets the budget of known addresses within a second', () => {
    const known = new Set<string>()
    const budgets = budget({ perSource: 1, perKnownSource: 1_000 }, known)
    expect([budgets.admits(TRUNK, 0), budgets.admits(TRUNK, 1)]).toEqual([true, false])
    known.add(TRUNK)
    expect(budgets.admits(TRUNK, 1_001)).toBe(true)
    expect(budgets.admits(TRUNK, 1_002)).toBe(true)
    known.delete(TRUNK)
    expect([budgets.admits(TRUNK, 2_100), budgets.admits(TRUNK, 2_101)]).toEqual([true, false])
  })
})
