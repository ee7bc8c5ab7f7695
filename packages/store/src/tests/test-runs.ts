import type { Scope } from '@parley/contract'
import { type RawBuilder, sql } from 'kysely'
import { type KeysetColumn, type Page, type PageRequest, readPage } from '../keyset.ts'
import type { Queries } from '../protocol.ts'
import type { TestRunCasesTable, TestRunState, TestRunsTable, TrialVerdict } from '../schema-tests.ts'
import type { StoredPrincipal } from '../stored-principal.ts'
import type { ReplayOrder, ReplayResult, TestRunSuite, TrialAssertion, TrialGuardEvent } from './protocol.ts'

interface NewTestRun {
  readonly agent_id: string
  readonly version: number
  readonly purpose: TestRunsTable['purpose']
  readonly suites: readonly TestRunSuite[]
  readonly case_ids: readonly string[] | null
  readonly trials: number | null
  readonly baseline_test_run_id: string | null
  readonly judge_model: object | null
  readonly estimated_usd: number
  readonly created_by: StoredPrincipal
  /** Default null: it executes suites. */
  readonly replay?: ReplayOrder | null
}

/** A test run as the API shows it, but for its scope. */
export interface TestRunRow {
  readonly test_run_id: string
  readonly agent_id: string
  readonly publication: { readonly agent_id: string; readonly version: number; readonly digest: string }
  readonly purpose: TestRunsTable['purpose']
  readonly suites: readonly Pick<TestRunSuite, 'suite_id' | 'revision' | 'digest'>[]
  readonly state: TestRunState
  readonly verdict: TrialVerdict | null
  readonly progress: { readonly trials: number; readonly admitted: number; readonly settled: number }
  readonly summary: Readonly<Record<string, number>> | null
  readonly baseline_test_run_id: string | null
  readonly replay: Pick<ReplayOrder, 'run_id' | 'after_change'> | null
  readonly judge_model: Readonly<Record<string, string>> | null
  readonly cost: { readonly estimated_usd: number; readonly measured_usd: number | null }
  readonly created_by: StoredPrincipal
  readonly created_at: string
  readonly finished_at: string | null
}

/** Creates a queued test run; a worker starts it. The publication must exist. */
export async function insertTestRun(tx: Queries, scope: Scope, run: NewTestRun): Promise<string> {
  const { suites, case_ids, judge_model, created_by, replay = null, ...columns } = run
  const { test_run_id } = await tx
    .insertInto('test_runs')
    .values({
      ...columns,
      tenant_id: scope.tenant_id,
      suites: JSON.stringify(suites),
      case_ids: case_ids === null ? null : JSON.stringify(case_ids),
      judge_model: judge_model === null ? null : JSON.stringify(judge_model),
      created_by: JSON.stringify(created_by),
      replay: replay === null ? null : JSON.stringify(replay),
    })
    .returning('test_run_id')
    .executeTakeFirstOrThrow()
  return test_run_id
}

function selectTestRuns(db: Queries, scope: Scope) {
  const trials = sql<TestRunRow['progress']>`(
    select jsonb_build_object('trials', count(*), 'admitted', count(*) filter (where t.started_at is not null),
      'settled', count(*) filter (where t.state in ('completed', 'cancelled')))
    from parley.test_trials t where t.tenant_id = r.tenant_id and t.test_run_id = r.test_run_id)`
  const suites = sql<TestRunRow['suites']>`(
    select jsonb_agg(jsonb_build_object('suite_id', s ->> 'suite_id', 'revision', s -> 'revision', 'digest', s ->> 'digest'))
    from jsonb_array_elements(r.suites) s)`
  return db
    .selectFrom('test_runs as r')
    .innerJoin('publications as p', join =>
      join
        .onRef('p.tenant_id', '=', 'r.tenant_id')
        .onRef('p.agent_id', '=', 'r.agent_id')
        .onRef('p.version', '=', 'r.version'),
    )
    .select([
      'r.test_run_id',
      'r.agent_id',
      'r.version',
      'p.digest',
      'r.purpose',
      suites.as('suites'),
      'r.state',
      'r.verdict',
      trials.as('progress'),
      'r.summary',
      'r.baseline_test_run_id',
      sql<TestRunRow['replay']>`case when r.replay is not null then
        jsonb_build_object('run_id', r.replay -> 'run_id', 'after_change', r.replay -> 'after_change') end`.as(
        'replay',
      ),
      'r.judge_model',
      'r.estimated_usd',
      'r.measured_usd',
      'r.created_by',
      'r.created_at',
      'r.finished_at',
    ])
    .where('r.tenant_id', '=', scope.tenant_id)
}

type Selected = Awaited<ReturnType<ReturnType<typeof selectTestRuns>['execute']>>[number]

function rowOf({ version, digest, estimated_usd, measured_usd, ...row }: Selected): TestRunRow {
  const publication = { agent_id: row.agent_id, version, digest }
  return { ...row, publication, cost: { estimated_usd, measured_usd } }
}

export async function readTestRun(db: Queries, scope: Scope, testRunId: string): Promise<TestRunRow | null> {
  const found = await selectTestRuns(db, scope).where('r.test_run_id', '=', testRunId).executeTakeFirst()
  return found === undefined ? null : rowOf(found)
}

interface TestRunFilter extends PageRequest {
  readonly agent_id?: string | undefined
  readonly version?: number | undefined
  readonly suite_id?: string | undefined
  readonly purpose?: TestRunsTable['purpose'] | undefined
  readonly state?: TestRunState | undefined
}

const NEWEST_FIRST: readonly KeysetColumn<Selected>[] = [
  { column: 'created_at', type: 'instant', direction: 'desc' },
  { column: 'test_run_id', type: 'uuid', direction: 'asc' },
]

/** Lists test runs, newest first. Throws the refusal `invalid_cursor`. */
export async function listTestRuns(
  db: Queries,
  scope: Scope,
  { cursor, limit, suite_id, ...filter }: TestRunFilter,
): Promise<Page<TestRunRow>> {
  let query = selectTestRuns(db, scope)
  for (const column of ['agent_id', 'version', 'purpose', 'state'] as const) {
    const value = filter[column]
    if (value !== undefined) query = query.where(`r.${column}`, '=', value)
  }
  if (suite_id !== undefined) query = query.where(sql<boolean>`r.suites @> ${JSON.stringify([{ suite_id }])}::jsonb`)
  const filters = { ...filter, suite_id }
  const binding = { operation: 'test_runs.list', tenantId: scope.tenant_id, filters, sort: 'created_at' }
  // The columns of the order are of the test run: a subquery makes their names unambiguous.
  const picked = db.selectFrom(query.as('picked')).selectAll()
  const page = await readPage(picked, NEWEST_FIRST, binding, { cursor, limit })
  return { rows: page.rows.map(row => rowOf(row as Selected)), next_cursor: page.next_cursor }
}

interface TrialHead {
  readonly trial_id: string
  readonly trial: number
  readonly state: TestRunState
  readonly verdict: TrialVerdict | null
  readonly run_id: string | null
  readonly duration_ms: number | null
  readonly failed_assertions: readonly string[]
}

interface CaseResultRow {
  readonly place: number
  readonly suite_id: string
  readonly case_id: string
  readonly name: string
  readonly blocking: boolean
  readonly verdict: TestRunCasesTable['verdict']
  readonly fault: string | null
  readonly flaky: boolean
  readonly change: TestRunCasesTable['change']
  readonly trials: readonly TrialHead[]
  /** In a release gate: those of the version that it is compared with. */
  readonly predecessor_trials: readonly TrialHead[]
}

/** Trials of a case and a version that a list shows; a release gate may have more. */
const MOST_LISTED = 100

const BY_PLACE: readonly KeysetColumn<CaseResultRow>[] = [{ column: 'place', type: 'integer', direction: 'asc' }]

const FAILED_ASSERTIONS = sql<string[]>`(
  select coalesce(jsonb_agg(a ->> 'id'), '[]') from jsonb_array_elements(t.assertions) a where a -> 'passed' = 'false'::jsonb)`

/** The cases of a test run with their trials, in order. Throws the refusal `invalid_cursor`. */
export function listCaseResults(
  db: Queries,
  scope: Scope,
  testRunId: string,
  page: PageRequest,
): Promise<Page<CaseResultRow>> {
  const trials = (side: RawBuilder<unknown>) => sql<TrialHead[]>`(
    select coalesce(jsonb_agg(jsonb_build_object('trial_id', t.trial_id, 'trial', t.trial, 'state', t.state, 'verdict', t.verdict,
      'run_id', t.run_id, 'duration_ms', t.duration_ms, 'failed_assertions', ${FAILED_ASSERTIONS}) order by t.trial), '[]')
    from parley.test_trials t
    where t.tenant_id = c.tenant_id and t.test_run_id = c.test_run_id and t.place = c.place
      and t.trial <= ${sql.lit(MOST_LISTED)} and ${side})`
  const query = db
    .selectFrom('test_run_cases as c')
    .select([
      'c.place',
      'c.suite_id',
      'c.case_id',
      sql<string>`c.test_case ->> 'name'`.as('name'),
      sql<boolean>`(c.test_case ->> 'blocking')::boolean`.as('blocking'),
      'c.verdict',
      'c.fault',
      'c.flaky',
      'c.change',
      trials(sql`t.version is null`).as('trials'),
      trials(sql`t.version is not null`).as('predecessor_trials'),
    ])
    .where('c.tenant_id', '=', scope.tenant_id)
    .where('c.test_run_id', '=', testRunId)
  const binding = {
    operation: 'test_runs.results',
    tenantId: scope.tenant_id,
    filters: { test_run_id: testRunId },
    sort: 'place',
  }
  return readPage(query, BY_PLACE, binding, page)
}

interface TrialRow extends TrialHead {
  readonly test_run_id: string
  /** The version that it tests. */
  readonly version: number
  readonly suite_id: string
  readonly case_id: string
  readonly assertions: readonly TrialAssertion[]
  readonly guard_events: readonly TrialGuardEvent[]
  readonly started_at: string | null
  readonly finished_at: string | null
  readonly error: string | null
  readonly replay: ReplayResult | null
}

export async function readTrial(
  db: Queries,
  scope: Scope,
  testRunId: string,
  trialId: string,
): Promise<TrialRow | null> {
  const found = await db
    .selectFrom('test_trials as t')
    .innerJoin('test_run_cases as c', join =>
      join
        .onRef('c.tenant_id', '=', 't.tenant_id')
        .onRef('c.test_run_id', '=', 't.test_run_id')
        .onRef('c.place', '=', 't.place'),
    )
    .innerJoin('test_runs as r', join =>
      join.onRef('r.tenant_id', '=', 't.tenant_id').onRef('r.test_run_id', '=', 't.test_run_id'),
    )
    .select([
      sql<number>`coalesce(t.version, r.version)`.as('version'),
      't.trial_id',
      't.trial',
      't.state',
      't.verdict',
      't.run_id',
      't.duration_ms',
      FAILED_ASSERTIONS.as('failed_assertions'),
      't.test_run_id',
      'c.suite_id',
      'c.case_id',
      't.assertions',
      't.guard_events',
      't.started_at',
      't.finished_at',
      't.error',
      't.replay',
    ])
    .where('t.tenant_id', '=', scope.tenant_id)
    .where('t.test_run_id', '=', testRunId)
    .where('t.trial_id', '=', trialId)
    .executeTakeFirst()
  return found ?? null
}

/** Cancels test runs that are not over: this one, or those of an agent. Processes that carry out their trials find them taken. */
export async function cancelTestRuns(
  tx: Queries,
  scope: Scope,
  which: { readonly test_run_id: string } | { readonly agent_id: string },
): Promise<void> {
  const [column, id] =
    'agent_id' in which ? (['agent_id', which.agent_id] as const) : (['test_run_id', which.test_run_id] as const)
  const cancelled = await tx
    .updateTable('test_runs')
    .set({ state: 'cancelled', finished_at: sql<string>`parley.now_ms()` })
    .where('tenant_id', '=', scope.tenant_id)
    .where(column, '=', id)
    .where('state', 'in', ['queued', 'running'])
    .returning('test_run_id')
    .execute()
  if (cancelled.length === 0) return
  await tx
    .updateTable('test_trials')
    .set({
      state: 'cancelled',
      fence: sql<number>`fence + 1`,
      lease_until: null,
      finished_at: sql<string>`parley.now_ms()`,
    })
    .where('tenant_id', '=', scope.tenant_id)
    .where(
      'test_run_id',
      'in',
      cancelled.map(({ test_run_id }) => test_run_id),
    )
    .where('state', 'in', ['queued', 'running'])
    .execute()
}

/** What a trial of the agent has cost and taken on average: the newest 100, or else the rate card's reserve for such a run. */
export async function trialEstimate(
  db: Queries,
  scope: Scope,
  agentId: string,
  channel: 'cloud' | 'phone',
): Promise<{ readonly usd: number; readonly ms: number | null }> {
  const { rows } = await sql<{ usd: number; ms: number | null }>`
    with recent as (
      select r.cost_usd, extract(epoch from r.ended_at - r.started_at) * 1000 as ms from parley.runs r
      where r.tenant_id = ${scope.tenant_id}::uuid and r.agent_id = ${agentId} and r.test_run_id is not null
        and r.channel = ${channel} and r.ended_at is not null
      order by r.created_at desc limit 100
    ), card as (
      select (c.reserve_usd ->> ${channel})::numeric as usd from parley.rate_cards c
      where c.tenant_id = ${scope.tenant_id}::uuid and c.effective_at <= now()
      order by c.effective_at desc, c.installed_at desc, c.rate_card_id limit 1
    )
    select coalesce((select avg(cost_usd) from recent), (select usd from card), 0)::double precision as usd,
      (select avg(ms) from recent)::double precision as ms`.execute(db)
  return rows[0]!
}
