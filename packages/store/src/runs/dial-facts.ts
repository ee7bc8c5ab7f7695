import type { Scope } from '@parley/contract'
import { sql } from 'kysely'
import type { Queries } from '../protocol.ts'
import type { Destinations } from '../schema.ts'
import { ownNumbers } from './own-numbers.ts'

/** What decides whether an environment can place a call. */
export interface DialFacts {
  /** Whether the trunk that was asked about is there. */
  readonly has_trunk: boolean
  /** Over which trunk the number is reached; null: it is not imported. */
  readonly number_trunk_id: string | null
  /** Whether the SIP password that this trunk pins is there; true where it pins none. */
  readonly has_secret: boolean
  /** What staff allowed; null: the countries of the environment's own numbers. */
  readonly destinations: Destinations | null
  /** E.164: the environment's numbers, one for each first seven digits, at most 1000. They tell its countries. */
  readonly own_numbers: readonly string[]
}

/** Of the number that is to be shown, and of the trunk that the publication names, where it does. One round trip. */
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
