import type { Scope } from '@parley/contract'
import { sql } from 'kysely'
import type { Queries } from '../protocol.ts'
import { shownUsd } from '../runs/budget.ts'
import type { AlertWindow } from './protocol.ts'

/** What the runs that were created in a window cost, test runs left out. */
export interface SpendMeasure {
  readonly as_of: string
  /** `pg_current_snapshot()` as text. */
  readonly snapshot: string
  /** Whether the environment has prices. */
  readonly has_rate_card: boolean
  /** The sum of the runs' costs as the usage shows them, USD; null: none has a cost. */
  readonly amount: string | null
  /** Runs with a cost. */
  readonly observation_count: number
  /** Runs that ended without one. */
  readonly unpriced_count: number
  /** SHA-256, hex, of a line `<run_id> <cost>` for each run with a cost, by id, joined by line feeds. */
  readonly sha256: string
}

/** Calls or recordings of a window. */
export interface RateMeasure {
  readonly observation_count: number
  readonly failed_count: number
  readonly unknown_count: number
}

/** Model requests of a window. */
export interface LatencyMeasure {
  readonly observation_count: number
  /** 95th percentile by nearest rank, ms, as a decimal; null without observations. */
  readonly p95: string | null
}

const MAX_SNAPSHOT = 4096

/** The runs of a window, by the time of their creation, as in the usage; test runs are left out. */
const runsOf = (scope: Scope, { from, to }: AlertWindow) =>
  sql`r.tenant_id = ${scope.tenant_id}::uuid and r.created_at >= ${from}::timestamptz and r.created_at < ${to}::timestamptz
    and not r.test`

/** The window of `hours` that ends now, on the database's clock. */
export async function windowUntilNow(db: Queries, hours: number): Promise<AlertWindow> {
  const { rows } = await sql<AlertWindow>`
    select at - ${hours}::integer * interval '1 hour' as "from", at as "to" from (select parley.now_ms() as at) now`.execute(
    db,
  )
  return rows[0]!
}

export async function measureSpend(db: Queries, scope: Scope, window: AlertWindow): Promise<SpendMeasure> {
  const { rows } = await sql<SpendMeasure>`
    with costs as (
      select r.run_id, r.ended_at, ${shownUsd(sql`r.cost_usd`)} as shown from parley.runs r where ${runsOf(scope, window)}
    )
    select parley.now_ms() as as_of, pg_current_snapshot()::text as snapshot,
      exists (select from parley.rate_cards c where c.tenant_id = ${scope.tenant_id}::uuid) as has_rate_card,
      trim_scale(sum(shown::numeric))::text as amount, count(shown)::integer as observation_count,
      (count(*) filter (where shown is null and ended_at is not null))::integer as unpriced_count,
      encode(sha256(convert_to(coalesce(
        string_agg(run_id || ' ' || shown, e'\n' order by run_id::text collate "C") filter (where shown is not null), ''
      ), 'UTF8')), 'hex') as sha256
    from costs`.execute(db)
  const measure = rows[0]!
  return { ...measure, snapshot: boundedSnapshot(measure.snapshot) }
}

/** Drops transactions in progress from the end of the list of a snapshot that would be too long to show. */
function boundedSnapshot(snapshot: string): string {
  if (snapshot.length <= MAX_SNAPSHOT) return snapshot
  const cut = snapshot.slice(0, MAX_SNAPSHOT + 1)
  return cut.slice(0, cut.lastIndexOf(','))
}

/** Turns of the window's runs, whose model requests answered their first token. */
export async function measureLatency(db: Queries, scope: Scope, window: AlertWindow): Promise<LatencyMeasure> {
  const { rows } = await sql<LatencyMeasure>`
    select count(*)::integer as observation_count,
      trim_scale(trunc((percentile_disc(0.95) within group (order by turns.llm)), 12))::text as p95
    from (
      select (e.fields #>> '{latency,llm}')::numeric as llm
      from parley.runs r join parley.run_events e on e.tenant_id = r.tenant_id and e.run_id = r.run_id
      where ${runsOf(scope, window)} and e.kind = 'turn' and e.fields #>> '{latency,llm}' is not null
    ) turns`.execute(db)
  return rows[0]!
}

/** Phone runs: those that ended, those of them that failed, and those that still live. */
export async function measureCallErrors(db: Queries, scope: Scope, window: AlertWindow): Promise<RateMeasure> {
  const { rows } = await sql<RateMeasure>`
    select (count(*) filter (where r.ended_at is not null))::integer as observation_count,
      (count(*) filter (where r.state = 'failed'))::integer as failed_count,
      (count(*) filter (where r.ended_at is null))::integer as unknown_count
    from parley.runs r where ${runsOf(scope, window)} and r.channel = 'phone'`.execute(db)
  return rows[0]!
}

/**
 * Recordings of phone runs whose agent requires one, as `runs.recording` shows them: `ready`, `partial` and `failed` are settled,
 * and the last two count as failed. A call that was never connected needs none, and of an expired one nothing is known any more.
 */
export async function measureRecordingFailures(db: Queries, scope: Scope, window: AlertWindow): Promise<RateMeasure> {
  const { rows } = await sql<RateMeasure>`
    with calls as (
      select r.run_id, r.tenant_id, r.agent_id, r.version, r.ended_at, r.connected_ms from parley.runs r
      where ${runsOf(scope, window)} and r.channel = 'phone'
    ), versions as (
      select p.agent_id, p.version
      from (select distinct c.agent_id, c.version from calls c) v
      join parley.publications p
        on p.tenant_id = ${scope.tenant_id}::uuid and p.agent_id = v.agent_id and p.version = v.version
      where p.plan #> '{recording,required}' = 'true'
    ), recordings as (
      select coalesce(
        g.state,
        case when c.ended_at is null then 'pending' when c.connected_ms is null then 'not_required' else 'failed' end
      ) as state
      from calls c join versions v on v.agent_id = c.agent_id and v.version = c.version
      left join parley.run_recordings g on g.tenant_id = c.tenant_id and g.run_id = c.run_id
    )
    select (count(*) filter (where state in ('ready', 'partial', 'failed')))::integer as observation_count,
      (count(*) filter (where state in ('partial', 'failed')))::integer as failed_count,
      (count(*) filter (where state in ('pending', 'recording', 'processing')))::integer as unknown_count
    from recordings`.execute(db)
  return rows[0]!
}
