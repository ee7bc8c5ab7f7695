import type { Scope } from '@parley/contract'
import { sql } from 'kysely'
import type { Queries } from './protocol.ts'

/** The most of each that an environment may have; only active keys count. */
export const ENVIRONMENT_LIMITS = {
  keys: 1000,
  site_keys: 1000,
  secrets: 1000,
  trunks: 1000,
  suites: 1000,
  numbers: 10_000,
  alert_rules: 100,
  documents: 10_000,
} as const

type Limited = keyof typeof ENVIRONMENT_LIMITS

/**
 * Serialises the transactions that create one kind of resource in one environment, so that a count taken after this call still
 * holds when the new row is written. Call it before anything else that locks.
 */
export async function takeTurn(tx: Queries, scope: Scope, limited: Limited): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`${limited}/${scope.tenant_id}`}, 0))`.execute(tx)
}
