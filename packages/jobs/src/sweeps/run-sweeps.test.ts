import { storeUpdate } from '@parley/store'
import { type TestDatabase, testDatabase } from '@parley/store/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { JobsHarness } from '../testing/jobs-harness.ts'
import { LeaderLease } from './leader-lease.ts'
import {
  expireRuns,
  expireUpdates,
  forgetEngines,
  forgetIdempotency,
  pruneForgottenNumbers,
  type RunSweepsOptions,
} from './run-sweeps.ts'

let test: TestDatabase
let harness: JobsHarness
let options: RunSweepsOptions
beforeAll(async () => {
  test = await testDatabase()
})
afterAll(() => test?.close())
beforeEach(async () => {
  await test.owner.query('delete from parley.run_ownership')
  harness = await JobsHarness.open(test)
  options = { database: test.database, bus: harness.bus, counters: harness.counters }
})

/** Makes the run appear to have waited for `ms`. */
const waited = (runId: string, ms: number) =>
  test.owner.query(
    `update parley.run_ownership set admitted_at = admitted_at - $2 * interval '1 ms',
       start_before = start_before - $2 * interval '1 ms' where run_id = $1`,
    [runId, ms],
  )

describe('sweeps over runs', () => {
  it('sweeps expire admitted runs that no process claimed in time, and publish the change', async () => {
    const late = await harness.admit()
    const young = await harness.admit()
    await waited(late.run_id, 120_001)
    expect(await expireRuns(options)).toBe(false)
    expect(await harness.read(late.run_id)).toMatchObject({ state: 'expired', phone_state: 'expired' })
    expect(await harness.read(young.run_id)).toMatchObject({ state: 'admitted' })
    expect(harness.bus.published).toEqual([['runs', late.run_id]])
    expect(await harness.permits()).toBe(1)
  })

  it('sweeps settle updates that no engine answered, and notify the run’s owner and waiting requests', async () => {
    const run = await harness.run({ moves: [{ state: 'running', phone_state: 'active' }] })
    for (const a of [1, 2]) await harness.write(tx => storeUpdate(tx, harness.scope, run.run_id, { metadata: { a } }))
    const before = harness.bus.published.length
    expect(await expireUpdates(options)).toBe(false)
    expect(harness.counters.read().updates_expired).toBe(0)
    expect(harness.bus.published).toHaveLength(before)
    await test.owner.query("update parley.run_updates set deadline = now() - interval '1 ms' where run_id = $1", [
      run.run_id,
    ])
    await expireUpdates(options)
    const { rows } = await test.owner.query('select status, reason from parley.run_updates where run_id = $1', [
      run.run_id,
    ])
    const late = { status: 'indeterminate', reason: 'deadline' }
    expect(rows).toEqual([late, late])
    expect(harness.counters.read().updates_expired).toBe(2)
    expect(harness.bus.published.slice(before)).toEqual([
      ['run_orders', run.run_id],
      ['runs', run.run_id],
    ])
  })

  it('sweeps remove engines without a heartbeat for 30 s', async () => {
    for (const engine_id of ['loud', 'silent'])
      await test.database.runs.engines.register({ engine_id, addresses: {}, capacity: 1 })
    await test.owner.query(
      "update parley.engines set heartbeat_at = now() - interval '31 s' where engine_id = 'silent'",
    )
    await forgetEngines(options)
    expect((await test.database.runs.engines.present(60_000)).map(engine => engine.engine_id)).toEqual(['loud'])
  })

  it('sweeps delete idempotency records older than a week', async () => {
    await test.owner.query(
      `insert into parley.idempotency (tenant_id, principal, operation, key, request_hash, created_at)
       select $1, 'p', 'o', n::text, '\\x01', now() - n * interval '1 day' from generate_series(5, 9) n`,
      [harness.scope.tenant_id],
    )
    await forgetIdempotency(options)
    const { rows } = await test.owner.query('select key from parley.idempotency where tenant_id = $1 order by 1', [
      harness.scope.tenant_id,
    ])
    expect(rows.map(({ key }) => key)).toEqual(['5', '6'])
  })

  it('sweeps delete forgotten numbers once no call with them can be remembered', async () => {
    await test.owner.query(
      `insert into parley.forgotten_numbers (tenant_id, phone_number, forgotten_at)
       values ($1, '+4930111', now() - interval '367 days'), ($1, '+4930222', now() - interval '365 days')`,
      [harness.scope.tenant_id],
    )
    expect(await pruneForgottenNumbers(options)).toBe(false)
    const { rows } = await test.owner.query('select phone_number from parley.forgotten_numbers where tenant_id = $1', [
      harness.scope.tenant_id,
    ])
    expect(rows).toEqual([{ phone_number: '+4930222' }])
  })
})

describe('work that one worker does at a time', () => {
  const leaderLease = (owner: string, name = 'jobs/test') =>
    new LeaderLease({ leases: test.database.leases, name, owner, leaseMs: 30_000, time: harness.time })
  const work = (done: string[], who: string) => async () => {
    done.push(who)
    return true
  }

  it('leader work stays with its leader until the leader closes', async () => {
    const [one, other, done] = [leaderLease('one'), leaderLease('other'), [] as string[]]
    expect(await one.run(work(done, 'one'))).toBe(true)
    expect(await other.run(work(done, 'other'))).toBe(false)
    expect(await one.run(work(done, 'one'))).toBe(true)
    await one.release()
    expect(await other.run(work(done, 'other'))).toBe(true)
    expect(done).toEqual(['one', 'one', 'other'])
  })

  it('leader work passes to another worker after the leader died', async () => {
    const [one, other, done] = [leaderLease('one', 'jobs/dies'), leaderLease('other', 'jobs/dies'), [] as string[]]
    await one.run(work(done, 'one'))
    await test.owner.query("update parley.leases set expires_at = now() - interval '1 ms' where name = 'jobs/dies'")
    harness.time.advance(10_000)
    expect(await other.run(work(done, 'other'))).toBe(true)
    expect(await one.run(work(done, 'one'))).toBe(false)
    expect(done).toEqual(['one', 'other'])
  })

  it('the leader renews its lease only after a third of it: rounds of idle workers cost no commits', async () => {
    const { leases } = test.database
    let renewals = 0
    const counted: typeof leases = {
      ...leases,
      renew: (lease, leaseMs) => {
        renewals++
        return leases.renew(lease, leaseMs)
      },
    }
    const options = { leases: counted, name: 'jobs/idle', owner: 'one', leaseMs: 30_000, time: harness.time }
    const leader = new LeaderLease(options)
    for (let second = 0; second <= 25; second++) {
      expect(await leader.run(async () => true)).toBe(true)
      harness.time.advance(1000)
    }
    // After 10 and 20 s.
    expect(renewals).toBe(2)
  })

  it('leader work keeps its lease while it runs', async () => {
    const one = leaderLease('one', 'jobs/long')
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const working = one.run(() => promise)
    const until = async () => {
      const { rows } = await test.owner.query("select expires_at from parley.leases where name = 'jobs/long'")
      return rows[0]?.expires_at
    }
    let first: unknown
    while (first === undefined) first = await until()
    let last = first
    while (String(last) === String(first)) {
      harness.time.advance(10_000)
      last = await until()
    }
    resolve(true)
    expect(await working).toBe(true)
  })
})
