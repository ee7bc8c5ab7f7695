import type { Scope } from '@parley/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Queries } from '../protocol.ts'
import { type TestDatabase, testDatabase } from '../testing/index.ts'
import { eventsAfter } from './events.ts'
import { claimRun, moveRun, ownsRun, releaseRun } from './ownership.ts'
import { admitted, CHAT, counted, ENGINE, OUTBOUND, rowOf, workspace } from './runs.fixture.ts'

let test: TestDatabase
let scope: Scope
beforeAll(async () => {
  test = await testDatabase()
  scope = await workspace(test, { capacity: 10_000 })
})
afterAll(() => test?.close())

const within = <Result>(work: (tx: Queries) => Promise<Result>) => test.database.transaction(scope, work)
const claim = (runId: string, owner = ENGINE, leaseMs = 60_000) =>
  within(tx => claimRun(tx, scope, runId, owner, leaseMs))

describe('a run that waits for an owner', () => {
  it('a run that waits for an owner is listed by kind and taken by one of several owners', async () => {
    const chat = await admitted(test, scope, CHAT)
    const phone = await admitted(test, scope)
    const waits = async (kind: 'chat' | 'phone') =>
      (await test.database.runs.waiting(kind, 1000)).map(run => run.run_id)
    expect(await waits('chat')).toContain(chat)
    expect(await waits('chat')).not.toContain(phone)
    expect((await test.database.runs.waiting('phone', 1000)).find(run => run.run_id === phone)).toEqual({
      run_id: phone,
      scope,
      admitted_at: expect.any(String),
    })
    const claims = await Promise.all(
      Array.from({ length: 16 }, (_, index) => claim(chat, { engine: `e-${index}`, worker: null })),
    )
    expect(claims.filter(claimed => claimed !== null)).toEqual([
      { run_id: chat, fence: '1', last_seq: 1, cancel_asked: false },
    ])
    expect(await waits('chat')).not.toContain(chat)
  })

  it('a run that waits for an owner comes before those of a tenant with more running or waiting runs', async () => {
    const other = await workspace(test)
    const many: string[] = []
    for (let runs = 0; runs < 3; runs++) many.push(await admitted(test, scope, { ...CHAT, mode: 'task' }))
    const single = await admitted(test, other, { ...CHAT, mode: 'task' })
    const waits = async (underWay: readonly Scope[]) => {
      const of = underWay.map(({ tenant_id }) => tenant_id)
      return (await test.database.runs.waiting('task', 3, of)).map(run => run.run_id)
    }
    expect(await waits([])).toEqual([many[0], single, many[1]])
    expect(await waits([scope, scope, other])).toEqual([single, many[0], many[1]])
    expect(await waits([other, other])).toEqual([many[0], many[1], many[2]])
    for (const run_id of [...many, single])
      await test.owner.query('delete from parley.run_ownership where run_id = $1', [run_id])
  })

  it('a run that waits for an owner expires after 120 s for calls, 5 minutes for chats and a day in the background', async () => {
    const kinds = [
      OUTBOUND,
      CHAT,
      { ...CHAT, mode: 'background' },
      { ...OUTBOUND, channel: 'web', mode: 'inbound' },
    ] as const
    const seconds = [120, 300, 86_400, 120]
    for (const [index, request] of kinds.entries()) {
      const run_id = await admitted(test, scope, { ...request, notifies: true })
      const { rows } = await test.owner.query(
        'select extract(epoch from start_before - admitted_at)::int as s from parley.run_ownership where run_id = $1',
        [run_id],
      )
      expect(rows).toEqual([{ s: seconds[index] }])
      const before = await counted(test, scope)
      await test.owner.query(
        "update parley.run_ownership set start_before = now() - interval '1 ms' where run_id = $1",
        [run_id],
      )
      expect(await claim(run_id)).toBeNull()
      expect(await test.database.runs.expire(100)).toEqual([{ run_id, tenant_id: scope.tenant_id }])
      expect(await test.database.runs.expire(100)).toEqual([])
      expect(await rowOf(test, run_id)).toMatchObject({
        state: 'expired',
        phone_state: request.channel === 'phone' ? 'expired' : null,
        disposition: 'expired',
        outcome: null,
      })
      expect((await counted(test, scope)).live).toBe(before.live - 1)
      const events = await eventsAfter(test.database.within(scope), scope, run_id, 0, 10)
      expect(events.map(({ seq, fields }) => [seq, fields.state])).toEqual([
        [1, 'admitted'],
        [2, 'expired'],
      ])
      const { rows: webhooks } = await test.owner.query('select event from parley.outbox where run_id = $1', [run_id])
      expect(webhooks).toEqual([{ event: 'run.ended' }])
    }
  })

  it('a run that waits for an owner can be released by an owner that did not start it, and gets the next fence', async () => {
    const run_id = await admitted(test, scope, CHAT)
    const first = (await claim(run_id))!
    expect(await within(tx => releaseRun(tx, scope, first))).toBe('released')
    const second = (await claim(run_id))!
    expect(second.fence).toBe('2')
    await within(tx => moveRun(tx, scope, second, { state: 'running' }))
    expect(await within(tx => releaseRun(tx, scope, second))).toBe('not_allowed')
    expect(await within(tx => ownsRun(tx, scope, first))).toBe(false)
    expect(await within(tx => ownsRun(tx, scope, second))).toBe(true)
  })
})
