import type { Scope } from '@parley/contract'
import { sql } from 'kysely'
import type { Queries } from '../protocol.ts'

/** A trunk's registration at its carrier, as the engine that holds it last saw it. */
export interface TrunkRegistration {
  readonly engine_id: string
  /** Fence of the engine's lease, int8 as text. */
  readonly fence: string
  readonly state: 'registering' | 'registered' | 'failed' | 'unregistered'
  /** Final status of the last REGISTER; null: there was no response. */
  readonly sip_status: number | null
  readonly detail: string
  /** ISO time at which the binding expires; null: there is none. */
  readonly expires_at: string | null
  /** Route headers for outbound calls (RFC 3608), in their order. */
  readonly service_route: readonly string[]
}

/** Name of the lease that the registering engine of a trunk holds. */
export function registrationLease({ tenant_id }: Scope, trunkId: string): string {
  return `registration/${tenant_id}/${trunkId}`
}

/** Stores the registration of a trunk. False: an engine with a newer lease has written it, or the trunk is gone. */
export async function saveRegistration(
  tx: Queries,
  scope: Scope,
  trunkId: string,
  registration: TrunkRegistration,
): Promise<boolean> {
  const { engine_id, fence, state, sip_status, detail, expires_at, service_route } = registration
  const { rows } = await sql`
    insert into parley.trunk_registrations as r
      (tenant_id, trunk_id, fence, engine_id, state, sip_status, detail, expires_at, service_route)
    select k.tenant_id, k.trunk_id, ${fence}::bigint, ${engine_id}::text, ${state}::text, ${sip_status}::integer,
      ${detail}::text, ${expires_at}::timestamptz, ${service_route}::text[]
    from parley.trunks k where k.tenant_id = ${scope.tenant_id}::uuid and k.trunk_id = ${trunkId}
    on conflict (tenant_id, trunk_id) do update set fence = excluded.fence, engine_id = excluded.engine_id,
      state = excluded.state, sip_status = excluded.sip_status, detail = excluded.detail,
      expires_at = excluded.expires_at, service_route = excluded.service_route, updated_at = parley.now_ms()
      where r.fence <= excluded.fence
    returning r.trunk_id`.execute(tx)
  return rows.length === 1
}

/** Null: the trunk never registered. */
export async function registrationOf(
  db: Queries,
  scope: Scope,
  trunkId: string,
): Promise<(TrunkRegistration & { readonly updated_at: string }) | null> {
  const { rows } = await sql<TrunkRegistration & { readonly updated_at: string }>`
    select engine_id, fence, state, sip_status, detail, expires_at, service_route, updated_at
    from parley.trunk_registrations
    where tenant_id = ${scope.tenant_id}::uuid and trunk_id = ${trunkId}`.execute(db)
  return rows[0] ?? null
}
