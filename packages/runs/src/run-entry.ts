import type { Scope } from '@parley/contract'
import type { TimelineItem, Utterance } from '@parley/conversation'
import type { Ms } from '@parley/kernel'
import {
  announce,
  appendEvents,
  type Database,
  endRun,
  type Finish,
  type InferenceEffect,
  type JsonObject,
  type LastWords,
  moveRun,
  type NewEvent,
  type OwnerEvent,
  type Queries,
  type RunEnding,
  type RunMove,
  type RunOwnership,
  type RunWrites,
  recordInference,
  type SipMessageRow,
  storeDialog,
  storeSipMessages,
  writeCheckpoint,
  writeRun,
} from '@parley/store'
import { RunsError } from './errors.ts'

/** Something that happened in a run; written to the database asynchronously. */
export type RunEntry =
  | { readonly type: 'item'; readonly item: TimelineItem }
  /** Timeline items that were dropped here because memory or disk was full; itself a timeline item. `at`: ISO time. */
  | { readonly type: 'gap'; readonly count: number; readonly at: string }
  | { readonly type: 'move'; readonly move: RunMove }
  | { readonly type: 'dialog'; readonly dialog: JsonObject }
  | { readonly type: 'checkpoint'; readonly utterances: readonly Utterance[] }
  | { readonly type: 'inference'; readonly effect: InferenceEffect }
  /** A SIP message of the call; a repeated write with the same place is stored once. */
  | { readonly type: 'sip'; readonly message: SipMessageRow }
  /** `event_id`: a UUID; a repeated write with the same id is published once. */
  | { readonly type: 'announce'; readonly event: OwnerEvent; readonly event_id: string }

/** Entries written in one transaction. A batch never changes after its first attempt. */
export type RunBatch = readonly RunEntry[]

/** The end of a run, written after all its entries. */
export interface RunEnd {
  readonly ending: RunEnding
  readonly transcript: LastWords['transcript']
}

/** Most entries of one transaction. */
export const BATCH = 200

/** How many timeline sequence numbers the entries use. */
export function itemsIn(batch: RunBatch): number {
  return batch.filter(isItem).length
}

/** The entries without their oldest `count` timeline items (or all, if fewer), and with a `gap` entry in their place. */
export function withoutOldest(entries: RunBatch, count: number, at: string): { entries: RunEntry[]; dropped: number } {
  const rest: RunEntry[] = []
  let place: number | null = null
  let [taken, dropped, before] = [0, 0, 0]
  for (const entry of entries) {
    if (taken >= count || !isItem(entry)) {
      rest.push(entry)
      continue
    }
    place ??= rest.length
    taken++
    if (entry.type === 'gap') before += entry.count
    else dropped++
  }
  if (place !== null) rest.splice(place, 0, { type: 'gap', count: before + dropped, at })
  return { entries: rest, dropped }
}

/** Ends the run in one transaction. All earlier entries must be in the database. */
export function writeEnd(
  { ending, transcript }: RunEnd,
  { database, scope, owned }: Pick<BatchPlace, 'database' | 'scope' | 'owned'>,
): Promise<Finish> {
  return endRun(database, scope, owned, ending, transcript ?? null)
}

interface BatchPlace {
  readonly database: Database
  readonly scope: Scope
  readonly owned: RunOwnership
  /** The last sequence number of the timeline before the batch. */
  readonly lastSeq: number
  /** ISO time. */
  readonly now: string
}

/**
 * Writes a batch under the run's fencing token. Idempotent: a batch whose commit succeeded without an answer is not written
 * again. Resolves to the last sequence number of the timeline, or `lost` when another process owns the run or the lease
 * expired. Rejects with errors of the database.
 */
export async function writeBatch(batch: RunBatch, place: BatchPlace): Promise<number | 'lost'> {
  const { database, scope, owned, lastSeq, now } = place
  const events = batch.flatMap(entry => eventOf(entry) ?? [])
  const writes = writesOf(batch, { first: lastSeq + 1, items: events }, now)
  if (writes !== null && (await writeRun(database, scope, owned, writes)) === 'written') return lastSeq + events.length
  // One after the other, which also tells why the whole batch was refused.
  const answer = await database
    .transaction(scope, async tx => {
      const appended = await appendEvents(tx, scope, owned, lastSeq + 1, events)
      if (appended !== 'appended') return appended
      for (const entry of batch) if ((await writeEntry(tx, scope, owned, entry, now)) === 'lost') throw LOST
      const messages = batch.flatMap(entry => (entry.type === 'sip' ? [entry.message] : []))
      if (messages.length > 0 && (await storeSipMessages(tx, scope, owned, messages)) === 'lost') throw LOST
      return appended
    })
    .catch((error: unknown) => {
      if (error === LOST) return 'lost' as const
      throw error
    })
  if (answer === 'lost') return 'lost'
  // The commit of an earlier attempt succeeded and its answer was lost: the whole batch is stored.
  if (typeof answer === 'object' && answer.last_seq !== lastSeq + events.length)
    throw new RunsError(
      'timeline_broken',
      `the timeline ends at item ${answer.last_seq}, but item ${lastSeq} was the last one written`,
    )
  return lastSeq + events.length
}

export function documentsOf(utterances: readonly Utterance[]): readonly JsonObject[] {
  return utterances.map(utterance => ({ ...utterance, observed_offset_ms: whole(utterance.observed_offset_ms) }))
}

export function checkpointOf(utterances: readonly Utterance[], now: string): JsonObject {
  const last = utterances.findLast(({ end_ms }) => end_ms !== null)
  return {
    segments: utterances.length,
    last_completed_turn_offset_ms: whole(last?.end_ms ?? null) ?? 0,
    published_at: now,
  }
}

/** The entry as a timeline item, without its sequence number; null: the entry is not a timeline item. */
export function eventOf(entry: RunEntry): NewEvent | null {
  if (entry.type === 'gap') {
    const message = `${entry.count} items were dropped while the database was away.`
    return { at: entry.at, offset_ms: null, kind: 'error', fields: { code: 'items_dropped', message } }
  }
  if (entry.type !== 'item') return null
  const { seq: _seq, at, offset_ms, kind, ...fields } = entry.item
  return { at, offset_ms: offset_ms === null ? null : Math.max(0, offset_ms), kind, fields: fields as JsonObject }
}

function isItem(entry: RunEntry): boolean {
  return entry.type === 'item' || entry.type === 'gap'
}

/** The batch as one statement; null: its entries depend on each other and are written one after the other. */
function writesOf(batch: RunBatch, events: RunWrites['events'], now: string): RunWrites | null {
  const moves = batch.flatMap(entry => (entry.type === 'move' ? [entry.move] : []))
  if (moves.length > 1 || batch.some(({ type }) => type === 'announce' || type === 'dialog')) return null
  const utterances = batch.findLast(entry => entry.type === 'checkpoint')?.utterances
  return {
    events,
    move: moves[0] ?? null,
    inference: batch.flatMap(entry => (entry.type === 'inference' ? [entry.effect] : [])),
    messages: batch.flatMap(entry => (entry.type === 'sip' ? [entry.message] : [])),
    checkpoint:
      utterances === undefined
        ? null
        : { utterances: documentsOf(utterances), checkpoint: checkpointOf(utterances, now) },
  }
}

/** Thrown inside a transaction to roll it back. */
const LOST = new RunsError('run_lost', 'another process owns the run')

/** An effect that was written before is accepted without a change. */
async function writeEntry(
  tx: Queries,
  scope: Scope,
  owned: RunOwnership,
  entry: RunEntry,
  now: string,
): Promise<'written' | 'lost'> {
  switch (entry.type) {
    case 'item':
    case 'gap':
    // All messages of the batch are written in one statement.
    case 'sip':
      return 'written'
    case 'move':
      return (await moveRun(tx, scope, owned, entry.move)) === 'lost' ? 'lost' : 'written'
    case 'dialog':
      return (await storeDialog(tx, scope, owned, entry.dialog)) === 'lost' ? 'lost' : 'written'
    case 'checkpoint': {
      const { utterances } = entry
      const checkpoint = checkpointOf(utterances, now)
      return (await writeCheckpoint(tx, scope, owned, documentsOf(utterances), checkpoint)) === 'lost'
        ? 'lost'
        : 'written'
    }
    case 'inference':
      await recordInference(tx, scope, owned, [entry.effect])
      return 'written'
    case 'announce':
      return (await announce(tx, scope, owned, entry.event, entry.event_id)) === 'lost' ? 'lost' : 'written'
  }
}

function whole(ms: Ms | null): number | null {
  return ms === null ? null : Math.max(0, Math.round(ms))
}
