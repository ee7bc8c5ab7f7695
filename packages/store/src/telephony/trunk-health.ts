import type { Scope } from '@parley/contract'
import { type RawBuilder, sql } from 'kysely'
import type { Queries } from '../protocol.ts'
import type { TrunkRegistration } from './registrations.ts'
import type { TrunkPing } from './trunk-pings.ts'

/** Calls that began in the last hour count. */
const WINDOW_S = 3600
/** An older answer to OPTIONS says nothing about now. */
const FRESH_S = 300
/** How far back the last answered and the last failed call are looked for. */
const LAST_CALLS_S = 86_400
/** The delay is measured over the newest calls of the hour. */
const MAX_DELAYS = 1000
/** Ringing is among the first entries of a call's timeline. */
const FIRST_ENTRIES = 30
const MAX_STATUSES = 20

/** Outbound runs that ended before they reached the trunk do not count. */
const TRIED = sql`(r.mode = 'inbound' or r.invite_sent_at is not null or r.outcome ->> 'detail' = 'trunk_unreachable')`

interface CallFigures {
  /** Ended calls: inbound ones, and outbound ones whose INVITE was sent or found no way to the trunk. */
  readonly calls: number
  readonly answered: number
  /** Answer seizure ratio (ITU-T E.411): answered calls of all; null: there was none. */
  readonly asr: number | null
  /** Average duration of answered calls; null: there was none. */
  readonly acd_ms: number | null
  /** Calls that were not answered by their final SIP status, the most frequent first; null: there was none. */
  readonly failures: { readonly sip_status: number | null; readonly calls: number }[]
}

/** How a trunk does: its calls of the last hour, its registration, and its answers to OPTIONS. All can be computed again from the runs. */
export interface TrunkHealth {
  readonly window_s: number
  readonly outbound: CallFigures & {
    /** From the INVITE to the first ringing or answer; null: no call rang. */
    readonly post_dial_delay_ms: { readonly p50: number; readonly p95: number } | null
  }
  readonly inbound: CallFigures
  /** End of the last answered call, and of the last that failed for another reason than the callee; null: none in the last 24 h. */
  readonly last_success_at: string | null
  readonly last_failure_at: string | null
  /** Null: no engine has sent OPTIONS in the last 5 min. */
  readonly ping: {
    /** Unreachable: for all engines; partly: for some, or some of the servers. */
    readonly state: TrunkPing['state']
    /** Engines that sent OPTIONS, and those of them that got no answer. */
    readonly engines: number
    readonly engines_without_answer: number
    readonly checked_at: string
    readonly last_success_at: string | null
    readonly last_failure_at: string | null
    readonly targets: TrunkPing['targets'][number][]
  } | null
  /** Null: the trunk never registered. */
  readonly registration:
    | (Pick<TrunkRegistration, 'state' | 'sip_status' | 'detail' | 'expires_at'> & { readonly updated_at: string })
    | null
}

export async function trunkHealth(db: Queries, scope: Scope, trunkId: string): Promise<TrunkHealth> {
  const trunk = sql`r.tenant_id = ${scope.tenant_id}::uuid and r.trunk_id = ${trunkId} and r.ended_at is not null and ${TRIED}`
  const [figures, post_dial_delay_ms, last, ping, registration] = await Promise.all([
    callFigures(db, trunk),
    postDialDelay(db, trunk),
    lastCalls(db, trunk),
    pingOf(db, scope, trunkId),
    registrationFacts(db, scope, trunkId),
  ])
  return {
    window_s: WINDOW_S,
    outbound: { ...figuresOf(figures, 'outbound'), post_dial_delay_ms },
    inbound: figuresOf(figures, 'inbound'),
    ...last,
    ping,
    registration,
  }
}

interface StatusFigures {
  readonly mode: 'outbound' | 'inbound'
  readonly is_answered: boolean
  readonly sip_status: number | null
  readonly calls: number
  readonly connected_ms: number
}

async function callFigures(db: Queries, trunk: RawBuilder<unknown>): Promise<readonly StatusFigures[]> {
  const { rows } = await sql<StatusFigures>`
    select r.mode, r.connected_ms is not null as is_answered,
      case when r.connected_ms is null then (r.outcome ->> 'sip_status')::integer end as sip_status,
      count(*)::integer as calls, coalesce(sum(r.connected_ms), 0)::double precision as connected_ms
    from parley.runs r
    where ${trunk} and r.created_at > clock_timestamp() - ${WINDOW_S} * interval '1 s'
    group by 1, 2, 3 order by calls desc, sip_status nulls last`.execute(db)
  return rows
}

function figuresOf(rows: readonly StatusFigures[], mode: StatusFigures['mode']): CallFigures {
  const mine = rows.filter(row => row.mode === mode)
  const answered = mine.find(({ is_answered }) => is_answered)
  const calls = mine.reduce((sum, row) => sum + row.calls, 0)
  return {
    calls,
    answered: answered?.calls ?? 0,
    asr: calls === 0 ? null : Math.round(((answered?.calls ?? 0) / calls) * 1e4) / 1e4,
    acd_ms: answered === undefined ? null : Math.round(answered.connected_ms / answered.calls),
    failures: mine
      .filter(({ is_answered }) => !is_answered)
      .slice(0, MAX_STATUSES)
      .map(({ sip_status, calls }) => ({ sip_status, calls })),
  }
}

/** From the entries of the timelines: `dialing`, then `ringing` or `active`. */
async function postDialDelay(
  db: Queries,
  trunk: RawBuilder<unknown>,
): Promise<TrunkHealth['outbound']['post_dial_delay_ms']> {
  const { rows } = await sql<{ p50: number | null; p95: number | null }>`
    select percentile_disc(0.5) within group (order by d.ms) as p50, percentile_disc(0.95) within group (order by d.ms) as p95
    from (
      select r.tenant_id, r.run_id from parley.runs r
      where ${trunk} and r.created_at > clock_timestamp() - ${WINDOW_S} * interval '1 s'
        and r.mode = 'outbound'
      order by r.created_at desc limit ${MAX_DELAYS}
    ) n, lateral (
      select (extract(epoch from
        min(e.at) filter (where e.fields ->> 'phone_state' in ('ringing', 'active'))
        - min(e.at) filter (where e.fields ->> 'phone_state' = 'dialing')) * 1000)::integer as ms
      from parley.run_events e
      where e.tenant_id = n.tenant_id and e.run_id = n.run_id and e.seq <= ${FIRST_ENTRIES} and e.kind = 'state'
    ) d
    where d.ms is not null`.execute(db)
  const { p50 = null, p95 = null } = rows[0] ?? {}
  return p50 === null || p95 === null ? null : { p50, p95 }
}

async function lastCalls(
  db: Queries,
  trunk: RawBuilder<unknown>,
): Promise<Pick<TrunkHealth, 'last_success_at' | 'last_failure_at'>> {
  const lastEnd = (which: RawBuilder<unknown>) => sql`(
    select r.ended_at from parley.runs r
    where ${trunk} and r.created_at > clock_timestamp() - ${LAST_CALLS_S} * interval '1 s' and ${which}
    order by r.created_at desc limit 1)`
  const { rows } = await sql<Pick<TrunkHealth, 'last_success_at' | 'last_failure_at'>>`
    select ${lastEnd(sql`r.connected_ms is not null`)} as last_success_at,
      ${lastEnd(sql`r.connected_ms is null and r.state = 'failed'`)} as last_failure_at`.execute(db)
  return rows[0]!
}

async function pingOf(db: Queries, scope: Scope, trunkId: string): Promise<TrunkHealth['ping']> {
  const { rows } = await sql<
    TrunkPing & { readonly last_success_at: string | null; readonly last_failure_at: string | null }
  >`
    select state, targets, checked_at, last_success_at, last_failure_at from parley.trunk_pings
    where tenant_id = ${scope.tenant_id}::uuid and trunk_id = ${trunkId}
      and checked_at > clock_timestamp() - ${FRESH_S} * interval '1 s'
    order by checked_at desc`.execute(db)
  const [newest] = rows
  if (newest === undefined) return null
  const states = new Set(rows.map(({ state }) => state))
  return {
    state: states.size === 1 ? newest.state : 'partly_reachable',
    engines: rows.length,
    engines_without_answer: rows.filter(({ state }) => state === 'unreachable').length,
    checked_at: newest.checked_at,
    last_success_at: latest(rows.map(row => row.last_success_at)),
    last_failure_at: latest(rows.map(row => row.last_failure_at)),
    targets: [...newest.targets],
  }
}

async function registrationFacts(db: Queries, scope: Scope, trunkId: string): Promise<TrunkHealth['registration']> {
  const { rows } = await sql<NonNullable<TrunkHealth['registration']>>`
    select state, sip_status, detail, expires_at, updated_at from parley.trunk_registrations
    where tenant_id = ${scope.tenant_id}::uuid and trunk_id = ${trunkId}`.execute(db)
  return rows[0] ?? null
}

/** ISO times sort as text. */
function latest(times: readonly (string | null)[]): string | null {
  return times.reduce((last, at) => (at !== null && (last === null || at > last) ? at : last), null)
}
