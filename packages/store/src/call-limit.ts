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

/**
 * Seconds until the daily limit has room for another call, when enough of the calls that count are 24 hours old; null: it
 * has no limit, or the limit is 0 and there is never room.
 */
export async function secondsUntilCallAllowed(db: Queries, scope: Scope): Promise<number | null> {
  const { rows } = await sql<{ seconds: number }>`
    select ceil(extract(epoch from minute + interval '24 hours 1 minute' - now()))::integer as seconds
    from (
      select m.minute, t.daily_call_limit,
        coalesce(sum(m.calls) over (order by m.minute desc rows between unbounded preceding and 1 preceding), 0) as later
      from parley.call_minutes m join parley.tenants t using (tenant_id)
      where m.tenant_id = ${scope.tenant_id} and m.minute >= date_trunc('minute', now() - interval '24 hours')
    ) as counted
    where later < daily_call_limit
    order by minute limit 1`.execute(db)
  return rows[0] === undefined ? null : Math.max(1, rows[0].seconds)
}
