import type { Scope } from '@parley/contract'
import { sql } from 'kysely'
import type { Queries } from '../protocol.ts'
import { secretSealContext } from '../secrets.ts'
import { detailsInForce } from './profiles/profiles.ts'
import type { TrunkDetails } from './trunk-details.ts'

/** A trunk as a call that goes out needs it. */
export interface DialableTrunk {
  readonly trunk_id: string
  readonly name: string
  readonly termination_uri: string
  /** The settings in force, those of its profile included. */
  readonly details: TrunkDetails
  /** The first that was imported on it: its country is the trunk's where staff set none. Null: it has no number. */
  readonly first_number: string | null
  /** Route headers that the registrar of the trunk asked for (RFC 3608), in their order; empty: none, or it is not registered. */
  readonly service_route: readonly string[]
  /** How calls authenticate; null: not by digest. */
  readonly auth: {
    readonly username: string
    /** The password: `sealer.open(sealed, context)`. Null: the pinned secret is gone, so nothing can be dialled. */
    readonly secret: { readonly sealed: Buffer; readonly context: string } | null
  } | null
}

interface Found extends Omit<DialableTrunk, 'auth'> {
  readonly auth_username: string | null
  readonly auth_secret_id: string | null
  readonly secret_version: number | null
  readonly sealed: Buffer | null
}

/** Null: there is no such trunk. */
export async function dialableTrunk(db: Queries, scope: Scope, trunkId: string): Promise<DialableTrunk | null> {
  const { rows } = await sql<Found>`
    select k.trunk_id, k.name, k.termination_uri, k.details, k.auth_username, k.auth_secret_id,
      v.version as secret_version, v.sealed, (
        select n.phone_number from parley.numbers n
        where n.tenant_id = k.tenant_id and n.trunk_id = k.trunk_id order by n.created_at, n.number_id limit 1
      ) as first_number, coalesce((
        select r.service_route from parley.trunk_registrations r
        where r.tenant_id = k.tenant_id and r.trunk_id = k.trunk_id and r.state = 'registered'
          and r.expires_at > clock_timestamp()
      ), '{}') as service_route
    from parley.trunks k
    left join parley.secrets s
      on s.tenant_id = k.tenant_id and s.secret_id = k.auth_secret_id and s.kind = 'sip_auth' and s.deleted_at is null
    left join parley.secret_versions v
      on v.tenant_id = s.tenant_id and v.secret_id = s.secret_id and v.version::text = k.auth_secret_version
    where k.tenant_id = ${scope.tenant_id}::uuid and k.trunk_id = ${trunkId}`.execute(db)
  const [found] = rows
  if (found === undefined) return null
  const {
    auth_username: username,
    auth_secret_id: secretId,
    secret_version: version,
    sealed,
    details,
    ...trunk
  } = found
  const secret =
    secretId === null || version === null || sealed === null
      ? null
      : { sealed, context: secretSealContext(scope, secretId, version) }
  return { ...trunk, details: detailsInForce(details), auth: username === null ? null : { username, secret } }
}
