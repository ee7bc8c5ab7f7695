import type { Scope } from '@parley/contract'
import { sql } from 'kysely'
import type { Queries } from '../protocol.ts'
import type { JsonObject, RecordingState } from '../schema-runs.ts'
import { heldRow } from './ownership.ts'
import type { RunOwnership } from './protocol.ts'
import { textOf } from './transcripts.ts'

export interface RecordingRow {
  readonly state: RecordingState
  /** In order: `{index, blob, samples, bytes}`. */
  readonly segments: readonly JsonObject[]
  /** As ContentRef, once joined; `expires_at` follows the environment's current retention. */
  readonly content: JsonObject | null
}

/** Allowed next states. */
const AFTER: Readonly<Record<RecordingState, readonly RecordingState[]>> = {
  pending: ['recording', 'processing', 'ready', 'partial', 'failed', 'not_required', 'expired'],
  recording: ['processing', 'ready', 'partial', 'failed', 'not_required', 'expired'],
  processing: ['ready', 'partial', 'failed', 'not_required', 'expired'],
  ready: ['expired'],
  // Segments that counted as lost may arrive late.
  partial: ['partial', 'expired'],
  failed: ['partial', 'expired'],
  not_required: [],
  expired: [],
}

/** Starts a recording in `state`; an existing one is returned unchanged. */
export async function openRecording(
  tx: Queries,
  scope: Scope,
  owned: RunOwnership,
  state: Extract<RecordingState, 'pending' | 'recording' | 'not_required'>,
): Promise<'stored' | 'lost'> {
  const { rows } = await sql<{ held: boolean }>`
    with held as ${heldRow(scope, owned)}, made as (
      insert into parley.run_recordings (tenant_id, run_id, state)
      select held.tenant_id, held.run_id, ${state}::text from held
      on conflict do nothing
    )
    select true as held from held`.execute(tx)
  return rows.length === 1 ? 'stored' : 'lost'
}

/** Adds a finished segment; a repeated index has no effect. */
export async function addSegment(
  tx: Queries,
  scope: Scope,
  owned: RunOwnership,
  segment: JsonObject & { readonly index: number },
): Promise<'stored' | 'lost'> {
  const { numAffectedRows } = await sql`
    with held as ${heldRow(scope, owned)}
    update parley.run_recordings r set updated_at = parley.now_ms(),
      segments = case when r.segments @> jsonb_build_array(jsonb_build_object('index', ${segment.index}::integer)) then r.segments
        else r.segments || ${JSON.stringify([segment])}::jsonb end
    from held where r.tenant_id = held.tenant_id and r.run_id = held.run_id`.execute(tx)
  return numAffectedRows === 1n ? 'stored' : 'lost'
}

/**
 * Changes the state of a recording, with any owner of the run, because work on it continues after the run's end. False,
 * without any change: the step is not forward, or there is no recording.
 */
export async function moveRecording(
  tx: Queries,
  scope: Scope,
  runId: string,
  state: RecordingState,
  content: JsonObject | null = null,
): Promise<boolean> {
  const from = (Object.keys(AFTER) as RecordingState[]).filter(before => AFTER[before].includes(state))
  const { numAffectedRows } = await sql`
    update parley.run_recordings set state = ${state}::text, updated_at = parley.now_ms(),
      content = case when ${state}::text = 'expired' then null else coalesce(${textOf(content)}::jsonb, content) end
    where tenant_id = ${scope.tenant_id}::uuid and run_id = ${runId}::uuid and state = any (${from}::text[])`.execute(
    tx,
  )
  return numAffectedRows === 1n
}

/**
 * Closes a recording: all of its segments are stored as blobs. `segments`: their number; null: unknown, because the
 * recorder died. `absent`: the recording does not exist. Idempotent, at any time and with any owner of the run.
 */
export async function closeRecording(
  tx: Queries,
  scope: Scope,
  runId: string,
  segments: number | null,
): Promise<'closed' | 'absent'> {
  const { numAffectedRows } = await sql`
    update parley.run_recordings set
      state = case when state in ('pending', 'recording') then 'processing' else state end,
      expected = coalesce(expected, ${segments}::integer), arrivals = arrivals + 1, spooled_until = null,
      blobs_expired = blobs_expired or state = 'expired', updated_at = parley.now_ms()
    where tenant_id = ${scope.tenant_id}::uuid and run_id = ${runId}::uuid`.execute(tx)
  return numAffectedRows === 1n ? 'closed' : 'absent'
}

/**
 * Announces segments that are not stored as blobs yet, which delays the join by `forMs`. Returns the state; null: the
 * recording does not exist.
 */
export async function awaitRecording(
  tx: Queries,
  scope: Scope,
  runId: string,
  forMs: number,
): Promise<RecordingState | null> {
  const { rows } = await sql<{ state: RecordingState }>`
    update parley.run_recordings set spooled_until = parley.now_ms() + ${forMs}::integer * interval '1 ms'
    where tenant_id = ${scope.tenant_id}::uuid and run_id = ${runId}::uuid
    returning state`.execute(tx)
  return rows[0]?.state ?? null
}

/** Whether the run is live and was not taken over from this owner; its lease may have expired. */
export async function isOwnershipCurrent(db: Queries, scope: Scope, { run_id, fence }: RunOwnership): Promise<boolean> {
  const row = await db
    .selectFrom('run_ownership')
    .select('run_id')
    .where('tenant_id', '=', scope.tenant_id)
    .where('run_id', '=', run_id)
    .where('fence', '=', fence)
    .executeTakeFirst()
  return row !== undefined
}

/** Null: there is none. For an ended run the state is `processing` until the join, regardless of the stored one. */
export async function readRecording(db: Queries, scope: Scope, runId: string): Promise<RecordingRow | null> {
  const { rows } = await sql<RecordingRow & { expires_at: string }>`
    select r.segments, r.content,
      case when r.state in ('pending', 'recording') and u.ended_at is not null then 'processing' else r.state end as state,
      coalesce(u.ended_at, parley.now_ms()) + t.recording_days * interval '1 day' as expires_at
    from parley.run_recordings r
    join parley.runs u using (tenant_id, run_id)
    join parley.tenants t using (tenant_id)
    where r.tenant_id = ${scope.tenant_id}::uuid and r.run_id = ${runId}::uuid`.execute(db)
  const [row] = rows
  if (row === undefined) return null
  const { expires_at, state, segments, content } = row
  return { state, segments, content: content === null ? null : { ...content, expires_at } }
}
