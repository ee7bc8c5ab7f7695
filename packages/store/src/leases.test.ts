import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Lease } from './protocol.ts'
import { type TestDatabase, testDatabase } from './testing/index.ts'

let test: TestDatabase
let names = 0
beforeAll(async () => {
  test = await testDatabase()
})
afterAll(() => test?.close())

const newName = () => `engine/${names++}`
const acquire = (name: string, owner: string, leaseMs = 60_000) => test.database.leases.acquire(name, owner, leaseMs)

/** Time passes for the lease: on the database's clock there is no other way without waiting. */
async function expire(lease: Lease): Promise<void> {
  await test.owner.query("update parley.leases set expires_at = now() - interval '1 ms' where name = $1", [lease.name])
}

describe('a lease', () => {
  it('a lease has one owner, which can renew and release it', async () => {
    const name = newName()
    const lease = await acquire(name, 'one')
    expect(lease).toEqual({ name, fence: '1', expires_at: expect.any(String) })
    expect(await acquire(name, 'two')).toBeNull()
    expect(await acquire(name, 'one')).toBeNull()
    const renewed = await test.database.leases.renew(lease!, 120_000)
    expect(Date.parse(renewed!.expires_at)).toBeGreaterThan(Date.parse(lease!.expires_at))
    expect(renewed!.fence).toBe('1')
    expect(await test.database.leases.release(lease!)).toBe(true)
    expect(await acquire(name, 'two')).toMatchObject({ fence: '2' })
  })

  it('an expired lease cannot be renewed, even when no other process took it', async () => {
    const lease = (await acquire(newName(), 'one'))!
    await expire(lease)
    expect(await test.database.leases.renew(lease, 60_000)).toBeNull()
    expect(await test.database.leases.release(lease)).toBe(false)
    expect(await acquire(lease.name, 'one')).toMatchObject({ fence: '2' })
  })

  it('a lease expires without renewal', async () => {
    const lease = (await acquire(newName(), 'one', 1))!
    await test.owner.query('select pg_sleep(0.01)')
    expect(await acquire(lease.name, 'two')).toMatchObject({ fence: '2' })
  })

  it('the old owner of a lease cannot renew or release it after another process acquired it', async () => {
    const stale = (await acquire(newName(), 'one'))!
    await expire(stale)
    const fresh = (await acquire(stale.name, 'two'))!
    expect(await test.database.leases.renew(stale, 60_000)).toBeNull()
    expect(await test.database.leases.release(stale)).toBe(false)
    expect(await test.database.leases.renew(fresh, 60_000)).toMatchObject({ fence: '2' })
  })

  it('one of many concurrent claimants acquires a lease, and its fencing token is never reused', async () => {
    const name = newName()
    const fences: string[] = []
    for (let round = 0; round < 5; round++) {
      const taken = await Promise.all(Array.from({ length: 10 }, (_, index) => acquire(name, `p${index}`)))
      const won = taken.filter(lease => lease !== null)
      expect(won).toHaveLength(1)
      fences.push(won[0]!.fence)
      if (round % 2 === 0) await expire(won[0]!)
      else await test.database.leases.release(won[0]!)
    }
    expect(fences).toEqual(['1', '2', '3', '4', '5'])
  })
})
