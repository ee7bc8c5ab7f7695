import type { Scope } from '@parley/contract'
import { sql } from 'kysely'
import type { Queries } from './protocol.ts'

export interface CallLimitRow {
  readonly daily_call_limit: number | null
  readonly calls_last_24h: number
  readonly as_of: string
}

/**
 * Outbound calls of the last 24 hours. They are counted by minute: the minute in which the 24 hours began counts whole,
 * so that the count may be too high by what was placed in less than that minute, never too low.
 */
const callsLast24h = (scope: Scope) => sql<number>`(
  select coalesce(sum(calls), 0)::integer from parley.call_minutes
  where tenant_id = ${scope.tenant_id} and minute >= date_trunc('minute', now() - interval '24 hours'))`

/** The daily limit of outbound calls (null: none) and what counts towards it. */
export async function readCallLimit(db: Queries, scope: Scope): Promise<CallLimitRow> {
  return db
    .selectFrom('tenants')
    .select(['daily_call_limit', callsLast24h(scope).as('calls_last_24h'), sql<string>`parley.now_ms()`.as('as_of')])
    .where('owner_id', '=', scope.owner_id)
    .where('tenant_id', '=', scope.tenant_id)
    .executeTakeFirstOrThrow()
}

/** Sets the limit, or clears it with null; resolves to the same as {@link readCallLimit}. */
export async function writeCallLimit(tx: Queries, scope: Scope, dailyLimit: number | null): Promise<CallLimitRow> {
  return tx
    .updateTable('tenants')
    .set({ daily_call_limit: dailyLimit })
    .where('owner_id', '=', scope.owner_id)
    .where('tenant_id', '=', scope.tenant_id)
    .returning(['daily_call_limit', callsLast24h(scope).as('calls_last_24h'), sql<string>`parley.now_ms()`.as('as_of')])
    .executeTakeFirstOrThrow()
}
