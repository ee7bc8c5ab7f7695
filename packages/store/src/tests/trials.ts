import type { Scope, TestCase } from '@parley/contract'
import { sql } from 'kysely'
import type { Queries } from '../protocol.ts'
import type { TestRunCasesTable, TestRunsTable, TrialVerdict } from '../schema-tests.ts'
import type {
  ReplayOrder,
  ReplayResult,
  TakenTrial,
  TestRunSuite,
  TrialAssertion,
  TrialGuardEvent,
} from './protocol.ts'
import { insertTrialRun, type TrialRun } from './trial-runs.ts'

/** Trials of one environment that processes carry out at once. */
const MOST_AT_ONCE = 4

/** A test run that waits to start. */
export interface QueuedTestRun {
  readonly test_run_id: string
  readonly agent_id: string
  readonly version: number
  readonly purpose: TestRunsTable['purpose']
  readonly suites: readonly TestRunSuite[]
  readonly case_ids: readonly string[] | null
  readonly trials: number | null
  /** Null: it executes suites. */
  readonly replay: ReplayOrder | null
}

/** A case of a test run that starts; `fault`: why it is invalid and gets no trials. */
export interface StartedCase {
  readonly suite_id: string
  readonly test_case: TestCase
  readonly trials: number
  readonly fault: string | null
  /** Whether a release gate compares both versions by it; the gate adds its trials. Default false. */
  readonly compared?: boolean
  /** The run whose caller the case plays. Default null: the case was written. */
  readonly recorded_run_id?: string | null
}

/** The oldest test run of the environment that waits to start, locked; null: none waits, or another process starts it. */
export async function lockQueuedTestRun(tx: Queries, scope: Scope): Promise<QueuedTestRun | null> {
  const found = await tx
    .selectFrom('test_runs')
    .select(['test_run_id', 'agent_id', 'version', 'purpose', 'suites', 'case_ids', 'trials', 'replay'])
    .where('tenant_id', '=', scope.tenant_id)
    .where('state', '=', 'queued')
    .orderBy('created_at')
    .limit(1)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst()
  return found ?? null
}

/** Writes the cases and trials of a test run that this transaction holds locked; it is running from then on. */
export async function startTestRun(
  tx: Queries,
  scope: Scope,
  testRunId: string,
  cases: readonly StartedCase[],
): Promise<void> {
  const { tenant_id } = scope
  const rows = cases.map(({ suite_id, test_case, trials, fault, compared = false, recorded_run_id = null }, index) => ({
    place: index + 1,
    suite_id,
    case_id: test_case.case_id,
    test_case,
    fault,
    compared,
    recorded_run_id,
    trials: fault === null && !compared ? trials : 0,
  }))
  await sql`
    insert into parley.test_run_cases (tenant_id, test_run_id, place, suite_id, case_id, test_case, fault, compared, recorded_run_id, verdict)
    select ${tenant_id}::uuid, ${testRunId}::uuid, c.place, c.suite_id, c.case_id, c.test_case, c.fault, c.compared, c.recorded_run_id,
      case when c.fault is not null then 'invalid' end
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      as c (place integer, suite_id uuid, case_id text, test_case jsonb, fault text, compared boolean, recorded_run_id uuid)`.execute(
    tx,
  )
  await sql`
    insert into parley.test_trials (tenant_id, test_run_id, place, trial)
    select ${tenant_id}::uuid, ${testRunId}::uuid, c.place, trial
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as c (place integer, trials integer),
      generate_series(1, c.trials) trial order by c.place, trial`.execute(tx)
  await tx
    .updateTable('test_runs')
    .set({ state: 'running' })
    .where('tenant_id', '=', tenant_id)
    .where('test_run_id', '=', testRunId)
    .execute()
}

/**
 * Takes trials of the environment, in order, and those whose process died; each belongs to the caller for `leaseMs`. Never more than
 * four trials of an environment are leased.
 */
export async function takeTrials(tx: Queries, scope: Scope, leaseMs: number, atMost: number): Promise<TakenTrial[]> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`trials/${scope.tenant_id}`}, 0))`.execute(tx)
  const { rows } = await sql<Omit<TakenTrial, 'scope'>>`
    with due as (
      select t.tenant_id, t.test_run_id, t.trial_id
      from parley.test_trials t join parley.test_runs r using (tenant_id, test_run_id)
      where t.tenant_id = ${scope.tenant_id}::uuid and r.state = 'running'
        and (t.state = 'queued' or (t.state = 'running' and t.lease_until <= clock_timestamp()))
      order by r.created_at, t.pair nulls first, t.place, t.trial
      limit greatest(0, least(${atMost}::integer, ${MOST_AT_ONCE}::integer - (
        select count(*)::integer from parley.test_trials l
        where l.tenant_id = ${scope.tenant_id}::uuid and l.state = 'running' and l.lease_until > clock_timestamp()
      )))
      for no key update of t
    )
    update parley.test_trials t set state = 'running', fence = t.fence + 1, started_at = coalesce(t.started_at, parley.now_ms()),
      lease_until = clock_timestamp() + ${leaseMs}::integer * interval '1 ms'
    from due, parley.test_runs r, parley.test_run_cases c
    where (t.tenant_id, t.test_run_id, t.trial_id) = (due.tenant_id, due.test_run_id, due.trial_id)
      and (r.tenant_id, r.test_run_id) = (t.tenant_id, t.test_run_id)
      and (c.tenant_id, c.test_run_id, c.place) = (t.tenant_id, t.test_run_id, t.place)
    returning t.test_run_id, t.trial_id, t.trial, t.fence, r.agent_id, coalesce(t.version, r.version) as version, r.replay,
      c.suite_id, c.test_case, c.recorded_run_id`.execute(tx)
  return rows.map(row => ({ ...row, scope }))
}

/** In how many ms a process should look for trials, or for gates with a result, again; null: none waits. */
export async function nextTrialDueInMs(db: Queries, scope: Scope): Promise<number | null> {
  const { rows } = await sql<{ in_ms: number | null }>`
    select greatest(0, ceil(extract(epoch from min(due.at) - clock_timestamp()) * 1000))::integer as in_ms
    from (
      select coalesce(t.lease_until, clock_timestamp()) as at from parley.test_trials t
      where t.tenant_id = ${scope.tenant_id}::uuid and t.state in ('queued', 'running')
      union all
      select clock_timestamp() from parley.release_gates g join parley.test_runs r using (tenant_id, test_run_id)
      where g.tenant_id = ${scope.tenant_id}::uuid and g.state = 'running' and r.state in ('completed', 'cancelled')
    ) due`.execute(db)
  return rows[0]?.in_ms ?? null
}

/** Renews the lease; false: another process has the trial, or it was cancelled. */
export async function renewTrial(tx: Queries, trial: TakenTrial, leaseMs: number): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update parley.test_trials set lease_until = clock_timestamp() + ${leaseMs}::integer * interval '1 ms'
    where ${isTaken(trial)}`.execute(tx)
  return numAffectedRows === 1n
}

export interface TrialResult {
  readonly verdict: TrialVerdict
  readonly assertions: readonly TrialAssertion[]
  readonly guard_events: readonly TrialGuardEvent[]
  readonly duration_ms: number
  readonly error: string | null
  /** Null: no run was replayed. */
  readonly replay: ReplayResult | null
  /** Null: no conversation was held. */
  readonly run: TrialRun | null
}

/**
 * Stores the result of a trial and its run, together. `lost`: another process has the trial, or it was cancelled, and nothing was
 * written. Locks the test run, so that of its trials one settles at a time.
 */
export async function settleTrial(tx: Queries, trial: TakenTrial, result: TrialResult): Promise<'settled' | 'lost'> {
  const { scope, test_run_id } = trial
  await tx
    .selectFrom('test_runs')
    .select('test_run_id')
    .where('tenant_id', '=', scope.tenant_id)
    .where('test_run_id', '=', test_run_id)
    .forUpdate()
    .execute()
  const { numAffectedRows } = await sql`
    update parley.test_trials set state = 'completed', lease_until = null, finished_at = parley.now_ms(),
      verdict = ${result.verdict}::text, duration_ms = ${result.duration_ms}::integer, error = ${result.error}::text,
      assertions = ${JSON.stringify(result.assertions)}::jsonb, guard_events = ${JSON.stringify(result.guard_events)}::jsonb,
      run_id = ${result.run?.run_id ?? null}::uuid, replay = ${result.replay === null ? null : JSON.stringify(result.replay)}::jsonb
    where ${isTaken(trial)}`.execute(tx)
  if (numAffectedRows !== 1n) return 'lost'
  if (result.run !== null) await insertTrialRun(tx, trial, result.run)
  return 'settled'
}

function isTaken({ scope, test_run_id, trial_id, fence }: TakenTrial) {
  return sql`tenant_id = ${scope.tenant_id}::uuid and test_run_id = ${test_run_id}::uuid and trial_id = ${trial_id}::uuid
    and fence = ${fence}::integer and state = 'running'`
}

/** A case of a test run and the verdicts of its trials. */
interface CaseTrials {
  readonly place: number
  readonly case_id: string
  readonly suite_id: string
  readonly blocking: boolean
  readonly pass_policy: TestCase['pass_policy']
  readonly verdict: TestRunCasesTable['verdict']
  /** Null for trials that have none yet. */
  readonly verdicts: readonly (TrialVerdict | null)[]
  /** Verdict of the same case in the baseline; null: none. */
  readonly before: TestRunCasesTable['verdict']
}

interface TestRunProgress {
  readonly cases: readonly CaseTrials[]
  readonly has_baseline: boolean
  readonly guard_events: number
}

/** The cases of a running test run, which this transaction holds locked; null: it is not running. */
export async function testRunProgress(tx: Queries, scope: Scope, testRunId: string): Promise<TestRunProgress | null> {
  const { rows } = await sql<{ has_baseline: boolean; guard_events: number; cases: CaseTrials[] | null }>`
    select r.baseline_test_run_id is not null as has_baseline,
      (select coalesce(sum(jsonb_array_length(t.guard_events)), 0)::integer from parley.test_trials t
        where t.tenant_id = r.tenant_id and t.test_run_id = r.test_run_id) as guard_events,
      (select jsonb_agg(jsonb_build_object('place', c.place, 'case_id', c.case_id, 'suite_id', c.suite_id,
          'blocking', c.test_case -> 'blocking', 'pass_policy', c.test_case -> 'pass_policy', 'verdict', c.verdict,
          'verdicts', (select coalesce(jsonb_agg(t.verdict order by t.trial), '[]') from parley.test_trials t
            where t.tenant_id = c.tenant_id and t.test_run_id = c.test_run_id and t.place = c.place),
          'before', (select b.verdict from parley.test_run_cases b
            where b.tenant_id = c.tenant_id and b.test_run_id = r.baseline_test_run_id and b.suite_id = c.suite_id
              and b.case_id = c.case_id limit 1)
        ) order by c.place)
        from parley.test_run_cases c where c.tenant_id = r.tenant_id and c.test_run_id = r.test_run_id) as cases
    from parley.test_runs r
    where r.tenant_id = ${scope.tenant_id}::uuid and r.test_run_id = ${testRunId}::uuid and r.state = 'running'
    for no key update of r`.execute(tx)
  const [found] = rows
  return found === undefined ? null : { ...found, cases: found.cases ?? [] }
}

interface CaseJudgement {
  readonly place: number
  readonly verdict: TrialVerdict | 'invalid'
  readonly flaky: boolean
  readonly change: TestRunCasesTable['change']
}

/** Stores the verdicts of cases of a test run that this transaction holds locked. */
export async function judgeCases(
  tx: Queries,
  scope: Scope,
  testRunId: string,
  judgements: readonly CaseJudgement[],
): Promise<void> {
  await sql`
    update parley.test_run_cases c set verdict = j.verdict, flaky = j.flaky, change = j.change
    from jsonb_to_recordset(${JSON.stringify(judgements)}::jsonb) as j (place integer, verdict text, flaky boolean, change text)
    where c.tenant_id = ${scope.tenant_id}::uuid and c.test_run_id = ${testRunId}::uuid and c.place = j.place`.execute(
    tx,
  )
}

/** Completes a test run that this transaction holds locked. Its measured cost is that of its runs; null while one has no price. */
export async function completeTestRun(
  tx: Queries,
  scope: Scope,
  testRunId: string,
  end: { readonly verdict: TrialVerdict; readonly summary: Readonly<Record<string, number>> },
): Promise<void> {
  await sql`
    update parley.test_runs r set state = 'completed', finished_at = parley.now_ms(), verdict = ${end.verdict}::text,
      summary = ${JSON.stringify(end.summary)}::jsonb,
      measured_usd = (
        select case when bool_and(x.cost_usd is not null) then sum(x.cost_usd) end::double precision from parley.runs x
        where x.tenant_id = r.tenant_id and x.test_run_id = r.test_run_id)
    where r.tenant_id = ${scope.tenant_id}::uuid and r.test_run_id = ${testRunId}::uuid`.execute(tx)
}
