import type { Scope } from '@parley/contract'
import { type RawBuilder, sql } from 'kysely'
import { type KeysetColumn, type Page, readPage } from '../keyset.ts'
import type { Queries } from '../protocol.ts'
import type { JsonObject } from '../schema-runs.ts'
import { isHeld } from './ownership.ts'
import type { RunOwnership } from './protocol.ts'

/** A timeline item without its sequence number. */
export interface NewEvent {
  /** ISO time. */
  readonly at: string
  /** On the call's clock; null before there is media. */
  readonly offset_ms: number | null
  readonly kind: string
  /** Further fields of the kind. */
  readonly fields: JsonObject
}

/** The items do not follow the last stored one; nothing was written. */
export interface Gap {
  readonly kind: 'out_of_sequence'
  readonly last_seq: number
}

export interface EventRow extends NewEvent {
  readonly seq: number
}

/**
 * Appends items to the timeline, the first with the sequence number `first`, which must follow the last stored one.
 * Otherwise nothing is written and the result is `out_of_sequence` with the last stored number, from which a retry
 * continues.
 */
export async function appendEvents(
  tx: Queries,
  scope: Scope,
  owned: RunOwnership,
  first: number,
  items: readonly NewEvent[],
): Promise<'appended' | 'lost' | Gap> {
  const { numAffectedRows } = await sql`
    with held as ${numberedRow(scope, owned, first, items.length)} ${eventsInsert(first, items)}`.execute(tx)
  if (numAffectedRows === BigInt(items.length) && items.length > 0) return 'appended'
  const { rows } = await sql<{ last_seq: number }>`
    select last_seq from parley.run_ownership where ${isHeld(scope, owned)} for no key update`.execute(tx)
  const [held] = rows
  if (held === undefined) return 'lost'
  return items.length === 0 && held.last_seq === first - 1
    ? 'appended'
    : { kind: 'out_of_sequence', last_seq: held.last_seq }
}

/** The row of ownership, with `count` numbers of the timeline taken from `first` on; no row: lost, or out of sequence. */
export function numberedRow(scope: Scope, owned: RunOwnership, first: number, count: number): RawBuilder<unknown> {
  return sql`(
      update parley.run_ownership set last_seq = last_seq + ${count}::integer
      where ${isHeld(scope, owned)} and last_seq = ${first}::integer - 1
      returning tenant_id, run_id
    )`
}

/** Inserts the items of the run in the relation `held`. */
export function eventsInsert(first: number, items: readonly NewEvent[]): RawBuilder<unknown> {
  return sql`insert into parley.run_events (tenant_id, run_id, seq, at, offset_ms, kind, fields)
    select held.tenant_id, held.run_id, ${first}::integer + item.place::integer - 1,
      (item.value ->> 'at')::timestamptz, (item.value ->> 'offset_ms')::double precision,
      item.value ->> 'kind', item.value -> 'fields'
    from held, jsonb_array_elements(${JSON.stringify(items)}::jsonb) with ordinality as item (value, place)`
}

const BY_SEQ: readonly KeysetColumn<EventRow>[] = [{ column: 'seq', type: 'integer', direction: 'asc' }]

/** In order. Throws `invalid_cursor`. */
export function listEvents(
  db: Queries,
  scope: Scope,
  runId: string,
  page: { readonly cursor: string | null; readonly limit: number },
): Promise<Page<EventRow>> {
  const binding = { operation: 'runs.timeline', tenantId: scope.tenant_id, filters: { run_id: runId }, sort: 'seq' }
  return readPage(eventsOf(db, scope, runId), BY_SEQ, binding, page)
}

/** Items after `seq`, in order, at most `limit`, to resume a stream. */
export function eventsAfter(db: Queries, scope: Scope, runId: string, seq: number, limit: number): Promise<EventRow[]> {
  return eventsOf(db, scope, runId).where('seq', '>', seq).orderBy('seq').limit(limit).execute()
}

function eventsOf(db: Queries, scope: Scope, runId: string) {
  return db
    .selectFrom('run_events')
    .select(['seq', 'at', 'offset_ms', 'kind', 'fields'])
    .where('tenant_id', '=', scope.tenant_id)
    .where('run_id', '=', runId)
}
