import type { Scope } from '@parley/contract'
import { type RawBuilder, sql } from 'kysely'
import type { Queries } from '../protocol.ts'
import type { JsonObject } from '../schema-runs.ts'
import { heldRow } from './ownership.ts'
import type { RunOwnership } from './protocol.ts'

export interface NewTranscript {
  /** `partial`: some of it was lost. */
  readonly state: 'partial' | 'complete'
  /** As Utterance. */
  readonly utterances: readonly JsonObject[]
  /** `{segments, last_completed_turn_offset_ms, published_at}`. */
  readonly checkpoint: JsonObject | null
  /** As ContentRef, if it is also stored as a document. */
  readonly content: JsonObject | null
}

export interface TranscriptRow {
  readonly state: 'partial' | 'complete' | 'expired'
  readonly final: boolean
  readonly utterances: readonly JsonObject[]
  readonly checkpoint: JsonObject | null
  readonly content: JsonObject | null
}

/** Replaces the run's transcript checkpoint. `lost`: another process owns the run, or the transcript is final. */
export function writeCheckpoint(
  tx: Queries,
  scope: Scope,
  owned: RunOwnership,
  utterances: readonly JsonObject[],
  checkpoint: JsonObject,
): Promise<'stored' | 'lost'> {
  return put(tx, scope, owned, { state: 'partial', utterances, checkpoint, content: null }, false)
}

/** Stores the final transcript in place of the checkpoint; only its expiry changes it later. Part of `finishRun`. */
export function writeFinalTranscript(
  tx: Queries,
  scope: Scope,
  owned: RunOwnership,
  transcript: NewTranscript,
): Promise<'stored' | 'lost'> {
  return put(tx, scope, owned, transcript, true)
}

/** Null: the run has no utterances, or never started. */
export async function readTranscript(db: Queries, scope: Scope, runId: string): Promise<TranscriptRow | null> {
  const row = await db
    .selectFrom('run_transcripts')
    .select(['state', 'final', 'utterances', 'checkpoint', 'content'])
    .where('tenant_id', '=', scope.tenant_id)
    .where('run_id', '=', runId)
    .executeTakeFirst()
  return row ?? null
}

async function put(
  tx: Queries,
  scope: Scope,
  owned: RunOwnership,
  transcript: NewTranscript,
  isFinal: boolean,
): Promise<'stored' | 'lost'> {
  const { numAffectedRows } = await sql`
    with held as ${heldRow(scope, owned)} ${transcriptInsert(transcript, isFinal)}`.execute(tx)
  return numAffectedRows === 1n ? 'stored' : 'lost'
}

/** Writes the transcript of the run in the relation `held`, unless its transcript is final. */
export function transcriptInsert(
  { state, utterances, checkpoint, content }: NewTranscript,
  isFinal: boolean,
): RawBuilder<unknown> {
  return sql`
    insert into parley.run_transcripts as t (tenant_id, run_id, state, final, utterances, checkpoint, content)
    select held.tenant_id, held.run_id, ${state}::text, ${isFinal}::boolean, ${JSON.stringify(utterances)}::jsonb,
      ${textOf(checkpoint)}::jsonb, ${textOf(content)}::jsonb
    from held
    on conflict (tenant_id, run_id) do update set state = excluded.state, final = excluded.final,
      utterances = excluded.utterances, checkpoint = excluded.checkpoint, content = excluded.content,
      updated_at = parley.now_ms()
    where not t.final`
}

/** SQL null for null, not JSON's. */
export function textOf(value: JsonObject | null): string | null {
  return value === null ? null : JSON.stringify(value)
}
