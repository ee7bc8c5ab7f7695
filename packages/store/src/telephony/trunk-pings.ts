import type { Scope } from '@parley/contract'
import { sql } from 'kysely'
import type { Queries } from '../protocol.ts'

/** What one server of a trunk answered to OPTIONS. */
interface PingedServer {
  readonly transport: 'udp' | 'tcp' | 'tls'
  readonly address: string
  readonly port: number
  /** Status of the answer; null: there was none. */
  readonly sip_status: number | null
  /** Why there was no answer; null: there was one. */
  readonly error: string | null
  readonly round_trip_ms: number | null
}

export interface TrunkPing {
  readonly state: 'reachable' | 'partly_reachable' | 'unreachable'
  readonly targets: readonly PingedServer[]
  readonly checked_at: string
}

/** Stores what an engine's OPTIONS got. Rows of engines that stopped pinging the trunk more than an hour ago are deleted. */
export async function saveTrunkPing(
  tx: Queries,
  scope: Scope,
  trunkId: string,
  engineId: string,
  ping: TrunkPing,
): Promise<void> {
  const { state, targets, checked_at } = ping
  const succeeded_at = state === 'unreachable' ? null : checked_at
  const failed_at = state === 'reachable' ? null : checked_at
  await sql`
    insert into parley.trunk_pings as p
      (tenant_id, trunk_id, engine_id, state, targets, checked_at, last_success_at, last_failure_at)
    select k.tenant_id, k.trunk_id, ${engineId}::text, ${state}::text, ${JSON.stringify(targets)}::jsonb,
      ${checked_at}::timestamptz, ${succeeded_at}::timestamptz, ${failed_at}::timestamptz
    from parley.trunks k where k.tenant_id = ${scope.tenant_id}::uuid and k.trunk_id = ${trunkId}
    on conflict (tenant_id, trunk_id, engine_id) do update set state = excluded.state, targets = excluded.targets,
      checked_at = excluded.checked_at, last_success_at = coalesce(excluded.last_success_at, p.last_success_at),
      last_failure_at = coalesce(excluded.last_failure_at, p.last_failure_at)`.execute(tx)
  await sql`
    delete from parley.trunk_pings where tenant_id = ${scope.tenant_id}::uuid and trunk_id = ${trunkId}
      and checked_at < clock_timestamp() - interval '1 hour'`.execute(tx)
}
