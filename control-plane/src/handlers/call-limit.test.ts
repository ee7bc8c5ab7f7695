import type { Scope } from '@parley/contract'
import { secondsUntilCallAllowed } from '@parley/store'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openWorkspace, type Workspace } from '../testing/workspace.ts'

let workspace: Workspace
let scope: Scope

beforeAll(async () => {
  workspace = await openWorkspace()
})
afterAll(() => workspace?.close())
beforeEach(async () => {
  scope = await workspace.test.scope()
})

const get = async () => (await workspace.call(scope, 'call_limits.get')).body
const set = (daily_limit: number | null) => workspace.call(scope, 'call_limits.update', { body: { daily_limit } })

async function storeCalls(calls: number, ago: string) {
  await workspace.test.owner.query(
    `insert into parley.call_minutes (tenant_id, minute, calls)
     values ($1, date_trunc('minute', now() - $2::interval), $3)`,
    [scope.tenant_id, ago, calls],
  )
}

describe('the daily limit of outbound calls', () => {
  it('an environment has no daily call limit by default', async () => {
    const { as_of, ...limit } = await get()
    expect(limit).toEqual({ daily_limit: null, calls_last_24h: 0, remaining: null })
    expect(Math.abs(Date.parse(as_of) - Date.now())).toBeLessThan(60_000)
  })

  it('a daily call limit can be set, read and cleared', async () => {
    const { body, auditedResource, notifications } = await set(250)
    expect(body).toMatchObject({ daily_limit: 250, calls_last_24h: 0, remaining: 250 })
    expect(auditedResource).toEqual({ kind: 'operation', id: 'telephony/call-limit' })
    expect(notifications).toEqual([{ topic: 'tenants', id: scope.tenant_id }])
    expect(await get()).toMatchObject({ daily_limit: 250, remaining: 250 })
    expect((await set(0)).body).toMatchObject({ daily_limit: 0, remaining: 0 })
    expect((await set(null)).body).toMatchObject({ daily_limit: null, remaining: null })
  })

  it('calls of the last 24 hours in the environment count, and the remaining number is never negative', async () => {
    await storeCalls(3, '0 minutes')
    await storeCalls(4, '23 hours 59 minutes')
    await storeCalls(100, '24 hours 2 minutes')
    const home = scope
    scope = await workspace.test.scope()
    await storeCalls(50, '0 minutes')
    scope = home
    expect((await set(10)).body).toMatchObject({ calls_last_24h: 7, remaining: 3 })
    expect((await set(5)).body).toMatchObject({ daily_limit: 5, calls_last_24h: 7, remaining: 0 })
    expect(await get()).toMatchObject({ calls_last_24h: 7, remaining: 0 })
  })

  it('calls in the first minute of the 24-hour window all count', async () => {
    const minute = async () =>
      (await workspace.test.owner.query("select date_trunc('minute', now())::text as m")).rows[0].m
    // The test is repeated if the minute changes between storing and reading.
    for (let before = '', after = ' '; before !== after; ) {
      scope = await workspace.test.scope()
      before = await minute()
      await storeCalls(2, '24 hours')
      const limit = await get()
      after = await minute()
      if (before === after) expect(limit.calls_last_24h).toBe(2)
    }
  })
})

describe('a call over the daily limit', () => {
  const wait = () => secondsUntilCallAllowed(workspace.test.database.within(scope), scope)

  it('a call over the daily limit may be placed when enough earlier calls are 24 hours old', async () => {
    await storeCalls(2, '23 hours')
    await storeCalls(3, '10 hours')
    await set(5)
    // The minute in which a call was placed counts whole, so that it leaves the count up to a minute later.
    expect(await wait()).toBeGreaterThan(3600)
    expect(await wait()).toBeLessThanOrEqual(3660)
    await set(4)
    expect(await wait()).toBeLessThanOrEqual(3660)
    await set(3)
    expect(await wait()).toBeGreaterThan(14 * 3600)
    expect(await wait()).toBeLessThanOrEqual(14 * 3600 + 60)
  })

  it('a daily limit of 0 allows no call', async () => {
    await storeCalls(2, '23 hours')
    await set(0)
    expect(await wait()).toBeNull()
  })
})
