import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type TestDatabase, testDatabase } from '../testing/index.ts'
import { admitted, CHAT, CHAT_OVER, rowOf, talesOn, workspace } from './runs.fixture.ts'
import { listRuns, type RunFilter, readRun } from './runs.ts'
import { readUpdate, settleUpdate, storeUpdate, takeUpdates } from './updates.ts'

let test: TestDatabase
beforeAll(async () => {
  test = await testDatabase()
})
afterAll(() => test?.close())

const { withinOf, running, end } = talesOn(() => test)

describe('an update of a run', () => {
  it('an update of a run applies at once to a run without an owner', async () => {
    const scope = await workspace(test)
    const run_id = await admitted(test, scope)
    const receipt = await withinOf(scope)(tx =>
      storeUpdate(tx, scope, run_id, { override_dynamic_variables: { name: 'Bob', extra: 'x' }, metadata: null }),
    )
    expect(receipt).toMatchObject({ revision: 1, status: 'applied', reason: null, completed_at: expect.any(String) })
    expect(await rowOf(test, run_id)).toMatchObject({ dynamic_variables: { name: 'Bob', extra: 'x' }, metadata: null })
    const many = Object.fromEntries(Array.from({ length: 99 }, (_, index) => [`v${index}`, 'x']))
    const refused = await withinOf(scope)(tx => storeUpdate(tx, scope, run_id, { override_dynamic_variables: many }))
    expect(refused).toMatchObject({ revision: 2, status: 'rejected', reason: 'too_many_variables' })
    expect((await rowOf(test, run_id)).dynamic_variables).toEqual({ name: 'Bob', extra: 'x' })
  })

  it('an update of a run waits for the owner, which gets it when it renews its lease and settles it once', async () => {
    const scope = await workspace(test)
    const within = withinOf(scope)
    const run = await running(scope)
    const change = { override_dynamic_variables: { name: 'Eve' } }
    const receipts = await Promise.all([1, 2, 3].map(() => within(tx => storeUpdate(tx, scope, run.run_id, change))))
    expect(receipts.map(receipt => receipt!.revision).toSorted()).toEqual([1, 2, 3])
    expect(await test.database.runs.renew('engine-1', [run])).toMatchObject([{ last_update: 3 }])
    expect(await readUpdate(test.database.within(scope), scope, run.run_id, 1)).toMatchObject({
      status: 'acknowledged',
    })
    const pending = await within(tx => takeUpdates(tx, scope, run))
    expect(pending).toMatchObject([{ revision: 1, change, status: 'applying' }, { revision: 2 }, { revision: 3 }])
    expect(await within(tx => takeUpdates(tx, scope, { ...run, fence: '0' }))).toEqual([])
    expect(Date.parse(pending[0]!.deadline) - Date.parse(pending[0]!.acknowledged_at)).toBe(10_000)
    const settle = (revision: number, outcome: Parameters<typeof settleUpdate>[4]) =>
      within(tx => settleUpdate(tx, scope, run, revision, outcome))
    expect(await settle(1, { status: 'applied' })).toMatchObject({ status: 'applied' })
    expect(await settle(1, { status: 'applied' })).toBeNull()
    expect((await rowOf(test, run.run_id)).dynamic_variables).toEqual({ name: 'Eve' })
    await test.owner.query('update parley.run_updates set deadline = now() where run_id = $1 and revision = 2', [
      run.run_id,
    ])
    expect(await test.database.runs.expireUpdates(100)).toEqual([{ run_id: run.run_id, revision: 2 }])
    expect(await settle(2, { status: 'applied' })).toBeNull()
    await end(scope, run)
    const db = test.database.within(scope)
    expect(await readUpdate(db, scope, run.run_id, 2)).toMatchObject({ status: 'indeterminate', reason: 'deadline' })
    expect(await readUpdate(db, scope, run.run_id, 3)).toMatchObject({ status: 'rejected', reason: 'run_ended' })
    expect(await within(tx => storeUpdate(tx, scope, run.run_id, change))).toBeNull()
  })
})

describe('the list of runs', () => {
  it('the list of runs takes every filter and has each run once, newest first', async () => {
    const scope = await workspace(test)
    const trial = '0199a2f0-0000-7000-8000-000000000001'
    const phone = await running(scope)
    await end(scope, phone, { disposition: 'booked', contact: 'human', successful: true })
    const chat = await running(scope, { ...CHAT, agent_id: 'other' })
    await end(scope, chat, { ...CHAT_OVER, successful: false })
    const trialRun = await admitted(test, scope, { ...CHAT, test: true, trigger: { kind: 'test', test_run_id: trial } })
    const live = await admitted(test, scope)
    // One instant apart, so that they have an order.
    for (const [index, run_id] of [phone.run_id, chat.run_id, trialRun, live].entries())
      await test.owner.query(
        "update parley.runs set created_at = '2026-03-01Z'::timestamptz + $2 * interval '1 hour' where run_id = $1",
        [run_id, index],
      )
    const names = new Map([
      [phone.run_id, 'phone'],
      [chat.run_id, 'chat'],
      [trialRun, 'trial'],
      [live, 'live'],
    ])
    const list = async (filter: Partial<RunFilter>) => {
      const page = await listRuns(test.database.within(scope), scope, { cursor: null, limit: 50, ...filter })
      return { names: page.rows.map(row => names.get(row.run_id)).join(' '), cursor: page.next_cursor, rows: page.rows }
    }
    const cases: readonly (readonly [Partial<RunFilter>, string])[] = [
      [{}, 'live trial chat phone'],
      [{ agent_id: 'other' }, 'chat'],
      [{ channel: 'cloud' }, 'trial chat'],
      [{ state: 'admitted' }, 'live trial'],
      [{ after: '2026-03-01T01:00:00.000Z', before: '2026-03-01T03:00:00.000Z' }, 'trial chat'],
      [{ disposition: ['booked', 'unheard'] }, 'phone'],
      [{ contact: ['human', 'not_applicable'] }, 'trial chat phone'],
      [{ successful: true }, 'phone'],
      [{ successful: false }, 'chat'],
      [{ version: 1 }, 'live trial chat phone'],
      [{ version: 2 }, ''],
      [{ test: true }, 'trial'],
      [{ test: false }, 'live chat phone'],
      [{ test_run_id: trial }, 'trial'],
      [{ channel: 'phone', state: 'completed', contact: ['human'] }, 'phone'],
    ]
    for (const [filter, expected] of cases) expect((await list(filter)).names, JSON.stringify(filter)).toBe(expected)
    const first = await list({ limit: 3 })
    expect(first.names).toBe('live trial chat')
    expect((await list({ limit: 3, cursor: first.cursor })).names).toBe('phone')
    await expect(list({ test: true, cursor: first.cursor })).rejects.toMatchObject({ reason: 'invalid_cursor' })
    expect(first.rows[2]).toEqual(await readRun(test.database.within(scope), scope, chat.run_id))
  })

  it('the list of runs contains only runs of its environment', async () => {
    const [ours, theirs] = [await workspace(test), await workspace(test)]
    const run_id = await admitted(test, theirs)
    expect(await readRun(test.database.within(ours), ours, run_id)).toBeNull()
    expect((await listRuns(test.database.within(ours), ours, { cursor: null, limit: 9 })).rows).toEqual([])
  })
})
