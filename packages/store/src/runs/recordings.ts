import type { Scope } from '@parley/contract'
import { sql } from 'kysely'
import type { Queries } from '../protocol.ts'
import type { JsonObject, RecordingState } from '../schema-runs.ts'
import { heldRow } from './ownership.ts'
import type { OwnedRun } from './protocol.ts'
import { textOf } from './transcripts.ts'

export interface RecordingRow {
  readonly state: RecordingState
  /** In order: `{index, blob, samples, bytes}`. */
  readonly segments: readonly JsonObject[]
  /** As ContentRef, once there is one object. */
  readonly content: JsonObject | null
}

/** Only forward: what follows which. */
const AFTER: Readonly<Record<RecordingState, readonly RecordingState[]>> = {
  pending: ['recording', 'processing', 'ready', 'partial', 'failed', 'not_required', 'expired'],
  recording: ['processing', 'ready', 'partial', 'failed', 'expired'],
  processing: ['ready', 'partial', 'failed', 'expired'],
  ready: ['expired'],
  partial: ['expired'],
  failed: ['expired'],
  not_required: [],
  expired: [],
}

/** Starts a recording, in `state`; as it is where there is one. */
export async function openRecording(
  tx: Queries,
  scope: Scope,
  owned: OwnedRun,
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

/** Adds a finished segment; one of the same index is there only once. */
export async function addSegment(
  tx: Queries,
  scope: Scope,
  owned: OwnedRun,
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
 * Moves a recording on, whoever has the run: its worker goes on after the run's end. False, and nothing happened, for
 * any move but forward, or where there is no recording.
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

/** Null: none was begun. */
export async function readRecording(db: Queries, scope: Scope, runId: string): Promise<RecordingRow | null> {
  const row = await db
    .selectFrom('run_recordings')
    .select(['state', 'segments', 'content'])
    .where('tenant_id', '=', scope.tenant_id)
    .where('run_id', '=', runId)
    .executeTakeFirst()
  return row ?? null
}
