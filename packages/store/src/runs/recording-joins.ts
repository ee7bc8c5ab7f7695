import type { Scope } from '@parley/contract'
import { sql } from 'kysely'
import type { Queries } from '../protocol.ts'
import type { JsonObject, RecordingState } from '../schema-runs.ts'
import { textOf } from './transcripts.ts'

/** A recording leased by a joiner. */
export interface RecordingJoin {
  /** Fencing token, int8 as text: rises with each joiner. */
  readonly fence: string
  readonly state: Exclude<RecordingState, 'not_required' | 'expired'>
  /** Number of segments; null: the recorder did not report it. */
  readonly expected: number | null
  /** Whether its call was connected, as far as the run has ended. */
  readonly connected: boolean
  /** Result of an earlier join. */
  readonly content: JsonObject | null
  /** Revision up to which this join counts. */
  readonly arrivals: number
}

/**
 * Leases a recording for a join: it must be closed, or its run must have ended, and it must have segments that are not
 * joined. Null: there is nothing to do, or another joiner has the lease.
 */
export async function takeJoin(
  tx: Queries,
  scope: Scope,
  runId: string,
  leaseMs: number,
): Promise<RecordingJoin | null> {
  const { rows } = await sql<RecordingJoin>`
    update parley.run_recordings r set join_fence = join_fence + 1,
      join_until = parley.now_ms() + ${leaseMs}::integer * interval '1 ms'
    where r.tenant_id = ${scope.tenant_id}::uuid and r.run_id = ${runId}::uuid
      and r.joined < r.arrivals and r.state not in ('not_required', 'expired')
      and (r.join_until is null or r.join_until <= clock_timestamp())
      and (r.state not in ('pending', 'recording') or exists (
        select from parley.runs u
        where u.tenant_id = r.tenant_id and u.run_id = r.run_id and u.ended_at is not null
      ))
    returning join_fence as fence, state, expected, content, arrivals, exists (
      select from parley.runs u
      where u.tenant_id = r.tenant_id and u.run_id = r.run_id and u.connected_ms is not null
    ) as connected`.execute(tx)
  return rows[0] ?? null
}

/** Extends the lease to `leaseMs` from now; after a failed join this delays the next attempt. False: another joiner has it. */
export function renewJoin(tx: Queries, scope: Scope, runId: string, fence: string, leaseMs: number): Promise<boolean> {
  return write(tx, scope, runId, fence, sql`join_until = parley.now_ms() + ${leaseMs}::integer * interval '1 ms'`)
}

/** Stores the result of the join. False, without any change: another joiner has the lease, or the recording expired. */
export function keepJoined(
  tx: Queries,
  scope: Scope,
  runId: string,
  fence: string,
  state: Extract<RecordingState, 'ready' | 'partial' | 'failed' | 'not_required'>,
  content: JsonObject | null,
): Promise<boolean> {
  return write(tx, scope, runId, fence, sql`state = ${state}::text, content = ${textOf(content)}::jsonb`)
}

/** Notes that the joined segments are deleted: the join is complete unless more segments were added meanwhile. */
export function endJoin(
  tx: Queries,
  scope: Scope,
  runId: string,
  { fence, arrivals }: Pick<RecordingJoin, 'fence' | 'arrivals'>,
): Promise<boolean> {
  return write(tx, scope, runId, fence, sql`joined = ${arrivals}::integer, join_until = null, segments = '[]'`)
}

async function write(
  tx: Queries,
  scope: Scope,
  runId: string,
  fence: string,
  assignments: ReturnType<typeof sql>,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update parley.run_recordings set ${assignments}, updated_at = parley.now_ms()
    where tenant_id = ${scope.tenant_id}::uuid and run_id = ${runId}::uuid and join_fence = ${fence}::bigint`.execute(
    tx,
  )
  return numAffectedRows === 1n
}
