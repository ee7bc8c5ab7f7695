import type { Scope } from '@parley/contract'
import { sql } from 'kysely'
import type { Queries } from '../protocol.ts'

/** How many calls a second a trunk takes where staff set nothing else (`TrunkDetails.cps`). */
export const CALLS_PER_SECOND = 20

export type CallSlot =
  | { readonly granted: true }
  /** Ask again in so many ms, at least 1: others may ask as well. */
  | { readonly granted: false; readonly retryInMs: number }

/**
 * Lets one INVITE leave on a trunk, counted over all engines on the database's clock: evenly, no two closer than the
 * inverse of `perSecond` (more than 0), so that no second sees more. Others who ask for the trunk wait for the commit;
 * rolled back, the slot is free again.
 */
export async function takeCallSlot(
  tx: Queries,
  scope: Scope,
  trunkId: string,
  perSecond: number = CALLS_PER_SECOND,
): Promise<CallSlot> {
  if (!(perSecond > 0 && Number.isFinite(perSecond))) throw new RangeError(`not a rate of calls: ${perSecond} a second`)
  const { rows } = await sql<{ wait: number }>`
    select parley.take_call_slot(${scope.tenant_id}::uuid, ${trunkId}::text, ${perSecond}::double precision) as wait`.execute(
    tx,
  )
  const { wait } = rows[0]!
  return wait === 0 ? { granted: true } : { granted: false, retryInMs: Math.ceil(wait) }
}
