import type { Scope } from '@parley/contract'
import { sql } from 'kysely'
import type { Queries } from '../protocol.ts'
import type { Destinations } from '../schema.ts'
import { ownNumbers } from './own-numbers.ts'

/** Facts that decide whether an environment may place a call. */
export interface DialFacts {
  /** Whether the requested trunk exists. */
  readonly has_trunk: boolean
  /** Trunk of the number; null: the number is not imported. */
  readonly number_trunk_id: string | null
  /** Whether the SIP password to which this trunk refers exists; true if it refers to none. */
  readonly has_secret: boolean
  /** Countries that staff allowed; null: those of the environment's own numbers. */
  readonly destinations: Destinations | null
  /** Numbers of the environment (E.164), from which its countries follow: one per seven-digit prefix, at most 1000. */
  readonly own_numbers: readonly string[]
}

/** Reads the facts for a caller number and, if the publication names one, its trunk. One round trip. */
export async function dialFacts(
  db: Queries,
  { tenant_id }: Scope,
  from: string,
  trunkId: string | null,
): Promise<DialFacts> {
  const { rows } = await sql<DialFacts>`
    select
      exists (select from parley.trunks t where t.tenant_id = e.tenant_id and t.trunk_id = ${trunkId}::text) as has_trunk,
      n.trunk_id as number_trunk_id,
      t.auth_secret_id is null or exists (
        select from parley.secrets s join parley.secret_versions v using (tenant_id, secret_id)
        where s.tenant_id = e.tenant_id and s.secret_id = t.auth_secret_id and s.deleted_at is null
          and v.version::text = t.auth_secret_version
      ) as has_secret,
      e.destinations,
      case when e.destinations is null then ${ownNumbers(sql`e.tenant_id`)} else '{}' end as own_numbers
    from parley.tenants e
    left join parley.numbers n on n.tenant_id = e.tenant_id and n.phone_number = ${from}::text
    left join parley.trunks t on t.tenant_id = e.tenant_id and t.trunk_id = n.trunk_id
    where e.tenant_id = ${tenant_id}::uuid`.execute(db)
  return rows[0]!
}
