import type { Scope } from '@parley/contract'
import { sql } from 'kysely'
import type { Queries } from '../protocol.ts'
import type { JsonObject, RecordingState } from '../schema-runs.ts'
import { textOf } from './transcripts.ts'

/** A recording in the hands of who joins it. */
export interface RecordingJoin {
  /** int8 as text: rises with everybody who takes it. */
  readonly fence: string
  readonly state: Exclude<RecordingState, 'not_required' | 'expired'>
  /** How many segments there are; null: its recorder never said so. */
  readonly expected: number | null
  /** Whether its call was connected, as far as the run has ended. */
  readonly connected: boolean
  /** What an earlier join made of it. */
  readonly content: JsonObject | null
  /** What is joined with it counts as done up to here. */
  readonly arrivals: number
}

/**
 * Takes a recording to be joined, for `leaseMs`: one that is closed, or whose run has ended, and that has what nobody has
 * joined. Null: there is nothing to do, or somebody else does it.
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

/** Keeps it for `leaseMs` from now, or, where the join failed, from anybody for so long. False: another has it. */
export function renewJoin(tx: Queries, scope: Scope, runId: string, fence: string, leaseMs: number): Promise<boolean> {
  return write(tx, scope, runId, fence, sql`join_until = parley.now_ms() + ${leaseMs}::integer * interval '1 ms'`)
}

/** Says what the join made of it. False, and nothing happened: another has it, or it expired meanwhile. */
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

/** What was joined is no longer among the blobs in pieces: nothing is left to do, unless more came meanwhile. */
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
