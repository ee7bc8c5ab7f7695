import type { Scope } from '@parley/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type TestDatabase, testDatabase } from '../testing/index.ts'
import { takeCallSlot } from './trunk-rate.ts'

let test: TestDatabase
let scope: Scope
beforeAll(async () => {
  test = await testDatabase()
  scope = await test.scope()
})
afterAll(() => test?.close())

let trunks = 0
const newTrunk = () => `trunk-${trunks++}`
const take = (trunk: string, perSecond?: number, of: Scope = scope) =>
  test.database.transaction(of, tx => takeCallSlot(tx, of, trunk, perSecond))

/** Moves the next slot of the trunk into the past, because tests cannot advance the database's clock. */
const letPass = (trunk: string, ms: number) =>
  test.owner.query("update parley.trunk_slots set next_at = next_at - $2 * interval '1 ms' where trunk_id = $1", [
    trunk,
    ms,
  ])

/** Requests slots from eight clients for `seconds`; returns the number of slots taken and the real duration. */
async function rush(trunk: string, perSecond: number, seconds: number) {
  const since = performance.now()
  const until = since + seconds * 1000
  let granted = 0
  const taker = async () => {
    while (performance.now() < until) if ((await take(trunk, perSecond)).granted) granted++
  }
  await Promise.all(Array.from({ length: 8 }, taker))
  return { granted, tookS: (performance.now() - since) / 1000 }
}

describe('the rate of calls on a trunk', () => {
  it('the rate of calls on a trunk lets the first call begin at once, and returns the wait of the next one', async () => {
    const trunk = newTrunk()
    expect(await take(trunk, 0.1)).toEqual({ granted: true })
    const refused = await take(trunk, 0.1)
    expect(refused).toMatchObject({ granted: false })
    const { retryInMs } = refused as { retryInMs: number }
    expect(retryInMs).toBeGreaterThan(0)
    expect(retryInMs).toBeLessThanOrEqual(10_000)
    await letPass(trunk, 10_000)
    expect(await take(trunk, 0.1)).toEqual({ granted: true })
  })

  it('the rate of calls on a trunk accumulates no slots: after an idle hour one call may begin, not two', async () => {
    const trunk = newTrunk()
    await take(trunk, 0.1)
    await letPass(trunk, 3_600_000)
    expect([(await take(trunk, 0.1)).granted, (await take(trunk, 0.1)).granted]).toEqual([true, false])
  })

  it('the rate of calls on a trunk is shared by all engines and separate for each trunk', async () => {
    const other = await test.scope()
    const trunk = newTrunk()
    const at = await Promise.all(Array.from({ length: 8 }, () => take(trunk, 0.1)))
    expect(at.filter(slot => slot.granted)).toHaveLength(1)
    expect(await take(newTrunk(), 0.1)).toEqual({ granted: true })
    expect(await take(trunk, 0.1, other)).toEqual({ granted: true })
  })

  it('the rate of calls on a trunk frees the slot when the transaction is rolled back', async () => {
    const trunk = newTrunk()
    const failing = test.database.transaction(scope, async tx => {
      expect(await takeCallSlot(tx, scope, trunk, 1)).toEqual({ granted: true })
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    expect(await take(trunk, 1)).toEqual({ granted: true })
  })

  it('the rate of calls on a trunk applies at once when it is raised', async () => {
    const trunk = newTrunk()
    await take(trunk, 0.01)
    expect(await take(trunk, 0.01)).toMatchObject({ granted: false })
    const { retryInMs } = (await take(trunk, 100)) as { retryInMs: number }
    expect(retryInMs).toBeLessThanOrEqual(10)
  })

  it('the rate of calls on a trunk is not exceeded by eight concurrent clients for three seconds', async () => {
    const perSecond = 20
    const { granted, tookS } = await rush(newTrunk(), perSecond, 3)
    expect(granted).toBeLessThanOrEqual(perSecond * tookS + 1)
    // Requests are late on a busy machine, but calls still begin.
    expect(granted).toBeGreaterThan(1)
  })

  it.each([
    ['one of eight, however slow it is between looking and taking', true],
    ['more than one of eight, and this test would see it, if slots were not locked', false],
  ])(
    'the rate of calls on a trunk admits %s',
    async (_what, isLocked) => {
      const { rows } = await test.owner.query("select pg_get_functiondef('parley.take_call_slot'::regproc) as body")
      const body = rows[0].body as string
      const slow = body.replace('  -- A rate that was raised', '  perform pg_sleep(0.2);\n  -- A rate that was raised')
      const planted = isLocked ? slow : slow.replace(' for no key update', '')
      expect([slow === body, planted === slow]).toEqual([false, isLocked])
      const trunk = newTrunk()
      await take(trunk, 0.01)
      await letPass(trunk, 100_000)
      await test.owner.query(planted)
      try {
        const all = await Promise.all(Array.from({ length: 8 }, () => take(trunk, 0.01)))
        const granted = all.filter(slot => slot.granted).length
        if (isLocked) expect(granted).toBe(1)
        else expect(granted).toBeGreaterThan(1)
      } finally {
        await test.owner.query(body)
      }
    },
    20_000,
  )

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])(
    'a rate of %d calls a second on a trunk is refused',
    async perSecond => {
      await expect(take(newTrunk(), perSecond)).rejects.toThrow(RangeError)
    },
  )
})
