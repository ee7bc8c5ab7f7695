import type { GateEvidence, ReleaseGate, Scope, TestCase } from '@parley/contract'
import { sql } from 'kysely'
import type { Queries } from '../protocol.ts'
import type { TestRunCasesTable, TrialVerdict } from '../schema-tests.ts'
import type { GatePairs } from './schema-gates.ts'

/** The gate that a test run belongs to; null: none. */
export async function gateOfTestRun(
  tx: Queries,
  scope: Scope,
  testRunId: string,
): Promise<{ readonly settings: ReleaseGate; readonly predecessor: number | null } | null> {
  const found = await tx
    .selectFrom('release_gates')
    .select(['settings', 'predecessor'])
    .where('tenant_id', '=', scope.tenant_id)
    .where('test_run_id', '=', testRunId)
    .executeTakeFirst()
  return found ?? null
}

/** A case that is judged by its own pass policy. */
interface AbsoluteCase {
  readonly place: number
  readonly blocking: boolean
  readonly pass_policy: TestCase['pass_policy']
  readonly verdict: TestRunCasesTable['verdict']
  /** Of its trials, in order; null: the trial has none yet. */
  readonly verdicts: readonly (TrialVerdict | null)[]
}

export interface GateProgress {
  readonly settings: ReleaseGate
  readonly predecessor: number | null
  readonly pairs: GatePairs
  /** Pairs that have trials. */
  readonly scheduled: number
  /** Places of the cases by which both versions are compared, in order. */
  readonly compared: readonly number[]
  readonly absolute: readonly AbsoluteCase[]
  /** The version that is live now; another than the predecessor: the gate is superseded. */
  readonly head: number | null
  /** Measured so far; null: no rate card prices the trials. */
  readonly spent_usd: number | null
  readonly guard_events: number
}

/** The gate of a running test run, which this transaction holds locked from then on; null: it is not running, or has no gate. */
export async function gateProgress(tx: Queries, scope: Scope, testRunId: string): Promise<GateProgress | null> {
  const { rows } = await sql<GateProgress>`
    with r as materialized (
      select * from parley.test_runs
      where tenant_id = ${scope.tenant_id}::uuid and test_run_id = ${testRunId}::uuid and state = 'running'
      for no key update
    )
    select g.settings, g.predecessor, g.pairs, g.scheduled, a.head_version as head,
      (select coalesce(jsonb_agg(c.place order by c.place), '[]') from parley.test_run_cases c
        where c.tenant_id = r.tenant_id and c.test_run_id = r.test_run_id and c.compared) as compared,
      (select coalesce(jsonb_agg(jsonb_build_object('place', c.place, 'blocking', c.test_case -> 'blocking',
          'pass_policy', c.test_case -> 'pass_policy', 'verdict', c.verdict,
          'verdicts', (select coalesce(jsonb_agg(t.verdict order by t.trial), '[]') from parley.test_trials t
            where t.tenant_id = c.tenant_id and t.test_run_id = c.test_run_id and t.place = c.place)
        ) order by c.place), '[]')
        from parley.test_run_cases c
        where c.tenant_id = r.tenant_id and c.test_run_id = r.test_run_id and not c.compared) as absolute,
      (select sum(x.cost_usd)::double precision from parley.runs x
        where x.tenant_id = r.tenant_id and x.test_run_id = r.test_run_id) as spent_usd,
      (select coalesce(sum(jsonb_array_length(t.guard_events)), 0)::integer from parley.test_trials t
        where t.tenant_id = r.tenant_id and t.test_run_id = r.test_run_id) as guard_events
    from r
    join parley.release_gates g on g.tenant_id = r.tenant_id and g.test_run_id = r.test_run_id
    join parley.agents a on a.tenant_id = r.tenant_id and a.agent_id = r.agent_id`.execute(tx)
  return rows[0] ?? null
}

interface SettledPair {
  readonly pair: number
  readonly candidate: TrialVerdict
  readonly predecessor: TrialVerdict
}

/** Pairs from number `from` whose trials have both ended, in order; at most 100. */
export async function settledPairs(tx: Queries, scope: Scope, testRunId: string, from: number): Promise<SettledPair[]> {
  const { rows } = await sql<SettledPair>`
    select c.pair, c.verdict as candidate, p.verdict as predecessor
    from parley.test_trials c
    join parley.test_trials p using (tenant_id, test_run_id, pair)
    where c.tenant_id = ${scope.tenant_id}::uuid and c.test_run_id = ${testRunId}::uuid and c.pair >= ${from}::integer
      and c.version is null and p.version is not null and c.state = 'completed' and p.state = 'completed'
    order by c.pair limit 100`.execute(tx)
  return rows
}

interface NewPair {
  readonly pair: number
  readonly place: number
  /** From 1. */
  readonly trial: number
}

/** Adds the trials of pairs: one of the predecessor and one of the candidate each. */
export async function insertPairs(
  tx: Queries,
  scope: Scope,
  testRunId: string,
  predecessor: number,
  pairs: readonly NewPair[],
): Promise<void> {
  await sql`
    insert into parley.test_trials (tenant_id, test_run_id, place, trial, pair, version)
    select ${scope.tenant_id}::uuid, ${testRunId}::uuid, n.place, n.trial, n.pair, side.version
    from jsonb_to_recordset(${JSON.stringify(pairs)}::jsonb) as n (pair integer, place integer, trial integer),
      (values (null::integer), (${predecessor}::integer)) side (version)
    order by n.pair`.execute(tx)
}

/** Stores how far the comparison is; `evidence` when it has its result. */
export async function writeGateProgress(
  tx: Queries,
  scope: Scope,
  testRunId: string,
  progress: { readonly pairs: GatePairs; readonly scheduled: number; readonly evidence?: GateEvidence },
): Promise<void> {
  const { pairs, scheduled, evidence } = progress
  await tx
    .updateTable('release_gates')
    .set({
      pairs: JSON.stringify(pairs),
      scheduled,
      ...(evidence !== undefined && { evidence: JSON.stringify(evidence) }),
    })
    .where('tenant_id', '=', scope.tenant_id)
    .where('test_run_id', '=', testRunId)
    .execute()
}

interface ComparedCase {
  readonly place: number
  readonly pass_policy: TestCase['pass_policy']
  readonly blocking: boolean
  /** Verdicts of trials that have one. */
  readonly candidate: readonly TrialVerdict[]
  readonly predecessor: readonly TrialVerdict[]
}

/** The compared cases with the verdicts of all their trials. */
export async function comparedCases(tx: Queries, scope: Scope, testRunId: string): Promise<ComparedCase[]> {
  const { rows } = await sql<ComparedCase>`
    select c.place, c.test_case ->> 'pass_policy' as pass_policy, (c.test_case ->> 'blocking')::boolean as blocking,
      coalesce(jsonb_agg(t.verdict order by t.trial) filter (where t.verdict is not null and t.version is null), '[]') as candidate,
      coalesce(jsonb_agg(t.verdict order by t.trial) filter (where t.verdict is not null and t.version is not null), '[]') as predecessor
    from parley.test_run_cases c
    left join parley.test_trials t using (tenant_id, test_run_id, place)
    where c.tenant_id = ${scope.tenant_id}::uuid and c.test_run_id = ${testRunId}::uuid and c.compared
    group by c.place, c.test_case order by c.place`.execute(tx)
  return rows
}

/** Cancels the trials of a test run that have not ended. Processes that carry them out find them taken. */
export async function cancelOpenTrials(tx: Queries, scope: Scope, testRunId: string): Promise<void> {
  await sql`
    update parley.test_trials set state = 'cancelled', fence = fence + 1, lease_until = null, finished_at = parley.now_ms()
    where tenant_id = ${scope.tenant_id}::uuid and test_run_id = ${testRunId}::uuid and state in ('queued', 'running')`.execute(
    tx,
  )
}
