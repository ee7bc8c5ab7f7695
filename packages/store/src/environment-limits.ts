import type { Scope } from '@parley/contract'
import { sql } from 'kysely'
import type { Queries } from './protocol.ts'

/** How many of each an environment may have; keys count while they are active. */
export const ENVIRONMENT_LIMITS = { keys: 1000, secrets: 1000, trunks: 1000, numbers: 10_000 } as const

type Limited = keyof typeof ENVIRONMENT_LIMITS

/**
 * Makes creators of one kind of thing in one environment take turns until their transactions end, so that what is counted
 * after this is still true when the new row is written. Call before anything else that locks.
 */
export async function takeTurn(tx: Queries, scope: Scope, limited: Limited): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`${limited}/${scope.tenant_id}`}, 0))`.execute(tx)
}
