import type { Scope } from '@parley/contract'
import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../protocol.ts'
import type { JsonObject } from '../schema-runs.ts'
import { type InferenceEffect, inferenceInsert } from './effects.ts'
import { eventsInsert, type NewEvent, numberedRow } from './events.ts'
import { moveUpdate, type RunMove } from './ownership.ts'
import type { RunOwnership } from './protocol.ts'
import { messagesInsert, type SipMessageRow } from './sip-messages.ts'
import { transcriptInsert } from './transcripts.ts'

/** What happened in a run, in no order but that of the timeline. */
export interface RunWrites {
  /** Items of the timeline; `first`: the number of the first one. */
  readonly events: { readonly first: number; readonly items: readonly NewEvent[] }
  readonly move: RunMove | null
  readonly inference: readonly InferenceEffect[]
  readonly messages: readonly SipMessageRow[]
  /** The transcript so far. */
  readonly checkpoint: { readonly utterances: readonly JsonObject[]; readonly checkpoint: JsonObject } | null
}

/**
 * Writes all of it in one statement and one round trip, or nothing: `refused` when another process owns the run, its lease ended, or the
 * items do not follow the last stored one. A move that is no step forward is left out.
 */
export async function writeRun(
  database: Database,
  scope: Scope,
  owned: RunOwnership,
  { events, move, inference, messages, checkpoint }: RunWrites,
): Promise<'written' | 'refused'> {
  const { first, items } = events
  const parts: RawBuilder<unknown>[] = [sql`with held as ${numberedRow(scope, owned, first, items.length)}`]
  if (items.length > 0) parts.push(sql`events as (${eventsInsert(first, items)})`)
  if (move !== null) parts.push(sql`moved as (${moveUpdate(move)})`)
  if (inference.length > 0) parts.push(sql`inference as (${inferenceInsert(owned.run_id, inference)})`)
  if (messages.length > 0) parts.push(sql`messages as (${messagesInsert(messages)})`)
  if (checkpoint !== null)
    parts.push(sql`transcript as (${transcriptInsert({ ...checkpoint, state: 'partial', content: null }, false)})`)
  const statement = sql`${sql.join(parts, sql`, `)} select from held`
  const { rows } = await database.transaction(scope, tx => statement.execute(tx), 'one-trip')
  return rows.length === 1 ? 'written' : 'refused'
}
