import type { Scope } from '@parley/contract'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type TestDatabase, testDatabase } from '../testing/index.ts'
import { settleSend } from './outbox.ts'
import type { OutboxItem, TenantShare } from './protocol.ts'

let test: TestDatabase
let scopes: Scope[]
beforeAll(async () => {
  test = await testDatabase()
  scopes = await Promise.all(Array.from({ length: 4 }, () => test.scope()))
  // The order in which turns go round.
  scopes.sort((a, b) => (a.tenant_id < b.tenant_id ? -1 : 1))
})
afterAll(() => test?.close())
beforeEach(() => test.owner.query('delete from parley.outbox'))

/** Each of a run of its own, the oldest first. */
const due = ({ tenant_id }: Scope, count: number, sinceMs = 60_000) =>
  test.owner.query(
    `insert into parley.outbox (tenant_id, run_id, event, next_at)
     select $1, uuidv7(), 'run.ended', now() - ($3 - n) * interval '1 ms' from generate_series(1, $2::integer) n`,
    [tenant_id, count, sinceMs],
  )

function take(atMost: number, share: Partial<TenantShare> = {}): Promise<OutboxItem[]> {
  return test.database.runs.takeOutbox(60_000, atMost, { eachAtMost: 8, underWay: [], after: null, ...share })
}
const whose = (items: readonly OutboxItem[]) =>
  items.map(({ scope }) => scopes.findIndex(({ tenant_id }) => tenant_id === scope.tenant_id))
const ids = (...of: readonly number[]) => of.map(index => scopes[index]!.tenant_id)

/** Mostly of the catalogue, by a connection's first look; thousands of webhooks are many times as many. */
const FEW_PAGES = 1000

/** Pages that a look for work touches. */
async function pagesOfALook(
  underWay: readonly string[] = [],
): Promise<{ readonly found: number; readonly pages: number }> {
  const { rows } = await test.owner.query(
    'explain (analyze, buffers, timing off, format json) select * from parley.take_outbox(1000, 64, 8, $1, null)',
    [underWay],
  )
  const { Plan } = rows[0]['QUERY PLAN'][0]
  return { found: Plan['Actual Rows'], pages: Plan['Shared Hit Blocks'] + Plan['Shared Read Blocks'] }
}

describe('webhooks that are due', () => {
  it('of one tenant are taken up to its share, what is under way counted', async () => {
    await due(scopes[0]!, 30)
    expect(whose(await take(64))).toEqual(Array(8).fill(0))
    expect(await take(64, { underWay: ids(0, 0, 0, 0, 0, 0, 0, 0) })).toEqual([])
    expect(whose(await take(64, { underWay: ids(0, 0, 0, 0, 0, 1) }))).toEqual([0, 0, 0])
  })

  it('are taken from all tenants in turn, however long one of them has waited', async () => {
    await due(scopes[1]!, 30)
    await due(scopes[0]!, 2, 1000)
    await due(scopes[3]!, 1, 1)
    expect(whose(await take(6))).toEqual([0, 1, 3, 0, 1, 1])
  })

  it('go first to who has least under way', async () => {
    for (const scope of scopes) await due(scope, 3)
    expect(whose(await take(3, { underWay: ids(0, 0, 1, 3) }))).toEqual([2, 1, 2])
  })

  it('of a single place come from one tenant after another', async () => {
    for (const index of [0, 1, 3]) await due(scopes[index]!, 5)
    const served: number[] = []
    let after: string | null = null
    for (let place = 0; place < 6; place++) {
      const [item] = await take(1, { after })
      served.push(...whose([item!]))
      after = item!.scope.tenant_id
    }
    expect(served).toEqual([0, 1, 3, 0, 1, 3])
  })

  it('are each taken once, by as many workers as look', async () => {
    for (const scope of scopes) await due(scope, 20)
    const taken: OutboxItem[] = []
    while (taken.length < 80) taken.push(...(await Promise.all(Array.from({ length: 4 }, () => take(20)))).flat())
    expect(new Set(taken.map(({ outbox_id }) => outbox_id)).size).toBe(80)
  })
})

describe('a look for due webhooks', () => {
  it('costs little, also when a tenant has thousands of them', async () => {
    await due(scopes[0]!, 5000)
    await due(scopes[1]!, 1)
    const many = await pagesOfALook()
    expect(many.found).toBe(9)
    expect(many.pages).toBeLessThan(FEW_PAGES)
    // And while the tenant has its share under way.
    const idle = await pagesOfALook(Array(8).fill(scopes[0]!.tenant_id))
    expect(idle.found).toBe(0)
    expect(idle.pages).toBeLessThan(FEW_PAGES)
  })

  it('passes none that wait behind another of their run', async () => {
    const { tenant_id } = scopes[0]!
    // A receiver is away: of each run the first webhook is to be tried again, and others come to wait behind it.
    await test.owner.query(
      `insert into parley.outbox (tenant_id, run_id, event, next_at)
       select $1, uuidv7(), 'run.started', now() + interval '1 minute' + random() * interval '1 minute' from generate_series(1, 5000)`,
      [tenant_id],
    )
    await test.owner.query(
      `insert into parley.outbox (tenant_id, run_id, event) select tenant_id, run_id, 'run.ended' from parley.outbox`,
    )
    await due(scopes[1]!, 1)
    const { found, pages } = await pagesOfALook()
    expect(found).toBe(1)
    expect(pages).toBeLessThan(FEW_PAGES)
  })

  it('finds those behind a failed one when its time has come, in order', async () => {
    const [scope] = scopes as [Scope]
    await due(scope, 1)
    const waits = () =>
      test.owner.query(
        `insert into parley.outbox (tenant_id, run_id, event) select tenant_id, run_id, 'run.analyzed' from parley.outbox`,
      )
    await waits()
    const [first] = await take(64)
    const settle = (item: OutboxItem, result: Parameters<typeof settleSend>[2]) =>
      test.database.transaction(scope, tx => settleSend(tx, item, result))
    await settle(first!, { kind: 'again', inMs: 60_000 })
    const { rows } = await test.owner.query('select count(distinct next_at)::integer as times from parley.outbox')
    expect(rows).toEqual([{ times: 1 }])
    expect(await take(64)).toEqual([])
    await test.owner.query("update parley.outbox set next_at = next_at - interval '1 minute'")
    const [again, ...early] = await take(64)
    expect([again!.outbox_id, early]).toEqual([first!.outbox_id, []])
    await settle(again!, { kind: 'given_up' })
    expect(await take(64)).toMatchObject([{ event: 'run.analyzed' }])
  })
})
