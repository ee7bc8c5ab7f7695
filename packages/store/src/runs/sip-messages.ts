import type { Scope } from '@parley/contract'
import { type RawBuilder, sql } from 'kysely'
import type { Queries } from '../protocol.ts'
import { heldRow } from './ownership.ts'
import type { RunOwnership } from './protocol.ts'

/** A SIP message of a run. */
export interface SipMessageRow {
  /** From 1, in the order of the messages. */
  readonly place: number
  /** ISO time. */
  readonly at: string
  readonly direction: 'in' | 'out'
  readonly transport: 'udp' | 'tcp' | 'tls'
  /** `address:port` */
  readonly source: string
  readonly destination: string
  /** Null, in the last row: further messages were not kept. */
  readonly message: string | null
}

/** Stores messages; those whose place is taken are unchanged. */
export async function storeSipMessages(
  tx: Queries,
  scope: Scope,
  owned: RunOwnership,
  messages: readonly SipMessageRow[],
): Promise<'stored' | 'lost'> {
  const { rows } = await sql`
    with held as ${heldRow(scope, owned)}, made as (${messagesInsert(messages)})
    select from held`.execute(tx)
  return rows.length === 1 ? 'stored' : 'lost'
}

/** Inserts the messages of the run in the relation `held`. */
export function messagesInsert(messages: readonly SipMessageRow[]): RawBuilder<unknown> {
  return sql`
      insert into parley.run_sip_messages (tenant_id, run_id, place, at, direction, transport, source, destination, message)
      select held.tenant_id, held.run_id, m.place, m.at, m.direction, m.transport, m.source, m.destination, m.message
      from held, jsonb_to_recordset(${JSON.stringify(messages)}::jsonb) as m (
        place integer, at timestamptz, direction text, transport text, source text, destination text, message text
      )
      on conflict do nothing`
}

/** In order; empty for runs without calls, and after the retention of transcripts. */
export async function listSipMessages(db: Queries, scope: Scope, runId: string): Promise<SipMessageRow[]> {
  const { rows } = await sql<SipMessageRow>`
    select m.place, m.at, m.direction, m.transport, m.source, m.destination, m.message from parley.run_sip_messages m
    where m.tenant_id = ${scope.tenant_id}::uuid and m.run_id = ${runId}::uuid order by m.place`.execute(db)
  return rows
}
