import type { Scope } from '@parley/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type AgentFilter, agentsQuery, listAgents } from './agents.ts'
import { type TestDatabase, testDatabase } from './testing/index.ts'

/** What Postgres says of one step of a query that it ran. */
interface Step {
  readonly 'Node Type': string
  readonly 'Index Name'?: string
  readonly 'Relation Name'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Shared Hit Blocks': number
  readonly 'Shared Read Blocks': number
  readonly Plans?: readonly Step[]
}

const AGENTS = 10_000
const FIRST: AgentFilter = { sort: 'updated_desc', cursor: null, limit: 50 }
const BY_NAME: AgentFilter = { ...FIRST, sort: 'name_asc' }

let test: TestDatabase
let many: Scope

/** Agents with a head and a draft each, archived ones among them. Contents are so large that reading all of them would be dear. */
async function fill({ tenant_id }: Scope, count: number): Promise<void> {
  const { owner } = test
  await owner.query(
    `insert into parley.agents (tenant_id, agent_id, name, created_at, updated_at, archived_at, head_version, head_channels)
     select $1, 'agent-' || n, 'Name ' || md5(n::text), at, at, case when n % 10 = 0 then at end, 0, '{phone}'
     from generate_series(1, $2::integer) n, lateral (select timestamptz '2026-01-01' + n * interval '1 s' as at) made`,
    [tenant_id, count],
  )
  await owner.query(
    `insert into parley.publications (tenant_id, agent_id, version, digest, plan_schema_version, channels, languages,
       source_kind, published_by, test, draft_id, draft_revision, plan, draft, warnings)
     select tenant_id, agent_id, 0, 'sha256:' || repeat('0', 64), 1, '{phone}', '{en}', 'api', '{}', false,
       gen_random_uuid(), 1, body, body, '[]'
     from parley.agents, (select jsonb_build_object('text', repeat('x', 1000)) as body) big where tenant_id = $1`,
    [tenant_id],
  )
  await owner.query(
    `insert into parley.drafts (tenant_id, agent_id, content)
     select tenant_id, agent_id, jsonb_build_object('text', repeat('x', 1000))
     from parley.agents where tenant_id = $1 and archived_at is null`,
    [tenant_id],
  )
}

beforeAll(async () => {
  test = await testDatabase()
  many = await test.scope()
  await fill(many, AGENTS)
  await fill(await test.scope(), 100)
  await test.owner.query('analyze')
})
afterAll(() => test?.close())

async function explained(filter: AgentFilter): Promise<{ steps: Step[]; blocks: number }> {
  const db = test.database.within(many)
  const compiled = agentsQuery(db, many, filter).compile()
  const text = `explain (analyze, buffers, format json) ${compiled.sql}`
  const { rows } = await db.executeQuery<{ 'QUERY PLAN': [{ Plan: Step }] }>({ ...compiled, sql: text })
  const root = rows[0]!['QUERY PLAN'][0].Plan
  const steps = (step: Step): Step[] => [step, ...(step.Plans ?? []).flatMap(steps)]
  return { steps: steps(root), blocks: root['Shared Hit Blocks'] + root['Shared Read Blocks'] }
}

/** A cursor that stands before the last pages. */
async function lateCursor(filter: AgentFilter): Promise<string> {
  const db = test.database.within(many)
  let cursor: string | null = null
  for (let seen = 0; seen < AGENTS * 0.8; seen += 1000)
    cursor = (await listAgents(db, many, { ...filter, cursor, limit: 1000 })).next_cursor
  return cursor!
}

describe.each([
  ['by what went live last', FIRST],
  ['by name', BY_NAME],
])('a page of the agents %s', (_, filter) => {
  it('a page of agents costs a few database blocks per agent, on the last page as on the first', async () => {
    for (const cursor of [null, await lateCursor(filter)]) {
      const { steps, blocks } = await explained({ ...filter, cursor })
      const scan = steps.find(step => step['Relation Name'] === 'agents' && step['Index Name'] !== undefined)
      expect(scan?.['Node Type'], JSON.stringify(steps.map(step => step['Node Type']))).toMatch(/^Index( Only)? Scan$/)
      // Archived agents are not in the index: nothing is read to be thrown away.
      expect(scan?.['Actual Rows']).toBeLessThanOrEqual(filter.limit + 1)
      expect(scan?.['Rows Removed by Filter'] ?? 0).toBeLessThanOrEqual(1)
      expect(blocks).toBeLessThan(10 * filter.limit)
    }
  })

  it('the pages of a list contain every agent exactly once', async () => {
    const db = test.database.within(many)
    const seen: string[] = []
    let cursor: string | null = null
    do {
      const page = await listAgents(db, many, { ...filter, cursor, limit: 999 })
      seen.push(...page.rows.map(row => row.agent_id))
      cursor = page.next_cursor
    } while (cursor !== null)
    expect(new Set(seen).size).toBe(seen.length)
    expect(seen).toHaveLength(AGENTS * 0.9)
  })
})
