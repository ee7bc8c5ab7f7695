import type { Scope } from '@parley/contract'
import { sql } from 'kysely'
import type { Queries } from '../protocol.ts'

/** Default calls per second of a trunk (`TrunkDetails.cps`). */
export const CALLS_PER_SECOND = 20

export type CallSlot =
  | { readonly granted: true }
  /** Retry after this many ms, at least 1; the slot may be taken again by then. */
  | { readonly granted: false; readonly retryInMs: number }

/**
 * Takes the slot of one INVITE on a trunk, across all engines and on the database's clock. Slots are evenly spaced by
 * the inverse of `perSecond` (more than 0). Concurrent requests for the trunk wait for the commit; a rollback frees the
 * slot.
 */
export async function takeCallSlot(
  tx: Queries,
  scope: Scope,
  trunkId: string,
  perSecond: number = CALLS_PER_SECOND,
): Promise<CallSlot> {
  if (!(perSecond > 0 && Number.isFinite(perSecond)))
    throw new RangeError(`calls per second must be a finite number above 0, not ${perSecond}`)
  const { rows } = await sql<{ wait: number }>`
    select parley.take_call_slot(${scope.tenant_id}::uuid, ${trunkId}::text, ${perSecond}::double precision) as wait`.execute(
    tx,
  )
  const { wait } = rows[0]!
  return wait === 0 ? { granted: true } : { granted: false, retryInMs: Math.ceil(wait) }
}
