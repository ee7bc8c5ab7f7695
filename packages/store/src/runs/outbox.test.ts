import type { Scope } from '@parley/contract'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type TestDatabase, testDatabase } from '../testing/index.ts'
import { nextWebhookDueInMs, type SendResult, settleSend, takeWebhooks } from './outbox.ts'
import type { OutboxItem } from './protocol.ts'

let test: TestDatabase
let scopes: Scope[]
beforeAll(async () => {
  test = await testDatabase()
  scopes = await Promise.all(Array.from({ length: 4 }, () => test.scope()))
  scopes.sort((a, b) => (a.tenant_id < b.tenant_id ? -1 : 1))
})
afterAll(() => test?.close())
// Not deleted: dead rows count as pages until no transaction can see them.
beforeEach(() => test.owner.query('truncate parley.outbox'))

/** Inserts `count` webhooks, each of a run of its own, the longest due first. */
const due = ({ tenant_id }: Scope, count: number, sinceMs = 60_000) =>
  test.owner.query(
    `insert into parley.outbox (tenant_id, run_id, event, next_at)
     select $1, uuidv7(), 'run.ended', now() - ($3 - n) * interval '1 ms' from generate_series(1, $2::integer) n`,
    [tenant_id, count, sinceMs],
  )

const take = (scope: Scope, atMost: number) =>
  test.database.transaction(scope, tx => takeWebhooks(tx, scope, 60_000, atMost))
const settle = (item: OutboxItem, result: SendResult) =>
  test.database.transaction(item.scope, tx => settleSend(tx, item, result))
const environments = (after: string | null = null, atMost = 100) =>
  test.database.jobs.environmentsDue('webhooks', after, atMost)

/** Some of them of the catalogue; thousands of webhooks are many times as many. */
const FEW_PAGES = 1000

/** Rows and pages of a query of the owner, which must be repeatable: the first time a session also reads pages of the catalogue. */
async function costOf(query: string): Promise<{ readonly found: number; readonly pages: number }> {
  let cost = { found: 0, pages: Number.POSITIVE_INFINITY }
  for (let attempt = 0; attempt < 3; attempt++) {
    const { rows } = await test.owner.query(`explain (analyze, buffers, timing off, format json) ${query}`)
    const { Plan } = rows[0]['QUERY PLAN'][0]
    const pages = Plan['Shared Hit Blocks'] + Plan['Shared Read Blocks']
    if (pages < cost.pages) cost = { found: Plan['Actual Rows'], pages }
  }
  return cost
}
const costOfEnvironments = () => costOf("select * from parley.environments_due('webhooks', null, 100)")

/** Pages that taking 8 webhooks of an environment reads and writes, as the application takes them. */
async function pagesOfTaking(scope: Scope): Promise<number> {
  return test.database.transaction(scope, async tx => {
    // Of this session alone: the statistics of the table also count what other sessions report late, such as the test's inserts.
    const pages = async () => {
      const { rows } = await sql<{ pages: string }>`
        select sum(pg_stat_get_xact_blocks_fetched(relation)) as pages
        from (select indexrelid from pg_index where indrelid = 'parley.outbox'::regclass
          union all select 'parley.outbox'::regclass) as of_outbox (relation)`.execute(tx)
      return Number(rows[0]!.pages)
    }
    const before = await pages()
    await takeWebhooks(tx, scope, 60_000, 8)
    return (await pages()) - before
  })
}

describe('due webhooks', () => {
  it('due webhooks are taken from one environment, the longest due first, up to the requested number', async () => {
    await due(scopes[0]!, 30)
    await due(scopes[1]!, 2)
    const first = await take(scopes[0]!, 8)
    expect(first.map(({ scope }) => scope)).toEqual(Array(8).fill(scopes[0]))
    expect(await take(scopes[1]!, 8)).toHaveLength(2)
    const { rows } = await test.owner.query(
      'select outbox_id from parley.outbox where tenant_id = $1 order by next_at limit 8',
      [scopes[0]!.tenant_id],
    )
    expect(new Set(first.map(({ outbox_id }) => outbox_id))).toEqual(new Set(rows.map(row => row.outbox_id)))
  })

  it('due webhooks are each taken once by concurrent workers', async () => {
    const [scope] = scopes as [Scope]
    await due(scope, 80)
    const taken: OutboxItem[] = []
    for (let round = 0; round < 50 && taken.length < 80; round++)
      taken.push(...(await Promise.all(Array.from({ length: 4 }, () => take(scope, 20)))).flat())
    expect(taken).toHaveLength(80)
    expect(new Set(taken.map(({ outbox_id }) => outbox_id)).size).toBe(80)
  })

  it('due webhooks after a failed one of their run are taken in order at its next attempt', async () => {
    const [scope] = scopes as [Scope]
    await due(scope, 1)
    await test.owner.query(
      `insert into parley.outbox (tenant_id, run_id, event) select tenant_id, run_id, 'run.analyzed' from parley.outbox`,
    )
    const [first] = await take(scope, 64)
    await settle(first!, { kind: 'again', inMs: 60_000 })
    const { rows } = await test.owner.query('select count(distinct next_at)::integer as times from parley.outbox')
    expect(rows).toEqual([{ times: 1 }])
    expect(await take(scope, 64)).toEqual([])
    await test.owner.query("update parley.outbox set next_at = next_at - interval '1 minute'")
    const [again, ...early] = await take(scope, 64)
    expect([again!.outbox_id, early]).toEqual([first!.outbox_id, []])
    await settle(again!, { kind: 'given_up' })
    expect(await take(scope, 64)).toMatchObject([{ event: 'run.analyzed' }])
  })
})

describe('the environments with due webhooks', () => {
  it('the environments with due webhooks are listed in order, from any of them on, as long as one of their webhooks is not leased', async () => {
    for (const index of [0, 1, 3]) await due(scopes[index]!, 2)
    expect(await environments()).toEqual([scopes[0], scopes[1], scopes[3]])
    expect(await environments(scopes[0]!.tenant_id, 1)).toEqual([scopes[1]])
    await take(scopes[0]!, 1)
    await take(scopes[1]!, 2)
    expect(await environments()).toEqual([scopes[0], scopes[3]])
  })

  it('the environments with due webhooks are found with few page reads, also when one of them has thousands of webhooks', async () => {
    await due(scopes[0]!, 5000)
    await due(scopes[1]!, 1)
    const { found, pages } = await costOfEnvironments()
    expect(found).toBe(2)
    expect(pages).toBeLessThan(FEW_PAGES)
    expect(await pagesOfTaking(scopes[0]!)).toBeLessThan(FEW_PAGES)
  })

  it('the environments with due webhooks are found with few page reads, also when thousands of webhooks wait for another of their run', async () => {
    const [{ tenant_id }] = scopes as [Scope]
    // A receiver is unavailable: the first webhook of each run is to be retried, and others queue after it.
    await test.owner.query(
      `insert into parley.outbox (tenant_id, run_id, event, next_at)
       select $1, uuidv7(), 'run.started', now() + interval '1 minute' + random() * interval '1 minute' from generate_series(1, 5000)`,
      [tenant_id],
    )
    await test.owner.query(
      `insert into parley.outbox (tenant_id, run_id, event) select tenant_id, run_id, 'run.ended' from parley.outbox`,
    )
    await due(scopes[1]!, 1)
    const { found, pages } = await costOfEnvironments()
    expect(found).toBe(1)
    expect(pages).toBeLessThan(FEW_PAGES)
    expect(await pagesOfTaking(scopes[0]!)).toBeLessThan(FEW_PAGES)
  })
})

describe('the time of the next webhook', () => {
  it('the time of the next webhook is that of the first one without a lease', async () => {
    const [scope] = scopes as [Scope]
    const next = () => nextWebhookDueInMs(test.database.within(scope), scope)
    expect(await next()).toBeNull()
    await due(scope, 2)
    expect(await next()).toBe(0)
    const [item] = await take(scope, 1)
    await settle(item!, { kind: 'again', inMs: 60_000 })
    expect(await next()).toBe(0)
    await take(scope, 1)
    const inMs = await next()
    expect(inMs).toBeGreaterThan(50_000)
    expect(inMs).toBeLessThanOrEqual(60_000)
  })
})
