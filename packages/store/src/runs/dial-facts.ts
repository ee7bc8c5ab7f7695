import type { Scope } from '@parley/contract'
import { sql } from 'kysely'
import { PreparedQuery } from '../prepared-query.ts'
import type { Queries } from '../protocol.ts'
import type { Destinations } from '../schema.ts'
import { ownNumbers } from './own-numbers.ts'

/** Facts that decide whether an environment may place a call. */
export interface DialFacts {
  /** The caller number of the request, else of the publication; null: neither names one. */
  readonly from_number: string | null
  /** The trunk that the publication names for its own number; null: it names none, or the request names another number. */
  readonly named_trunk_id: string | null
  /** Whether the named trunk exists. */
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

interface Call {
  readonly agent_id: string
  /** Null: the head of the agent. */
  readonly version: number | null
  /** Caller number that the request names; null: that of the publication. */
  readonly from: string | null
}

const facts = new PreparedQuery(
  (_, { tenant_id, agent_id, version, from }: Call & Pick<Scope, 'tenant_id'>) => sql<DialFacts>`
    select c.from_number, c.named_trunk_id,
      exists (select from parley.trunks t where t.tenant_id = e.tenant_id and t.trunk_id = c.named_trunk_id) as has_trunk,
      n.trunk_id as number_trunk_id,
      t.auth_secret_id is null or exists (
        select from parley.secrets s join parley.secret_versions v using (tenant_id, secret_id)
        where s.tenant_id = e.tenant_id and s.secret_id = t.auth_secret_id and s.deleted_at is null
          and v.version::text = t.auth_secret_version
      ) as has_secret,
      e.destinations,
      case when e.destinations is null then ${ownNumbers(sql`e.tenant_id`)} else '{}' end as own_numbers
    from parley.tenants e
    left join lateral (
      select p.plan -> 'telephony' as telephony
      from parley.publications p join parley.agents a using (tenant_id, agent_id)
      where p.tenant_id = e.tenant_id and p.agent_id = ${agent_id}::text
        and p.version = coalesce(${version}::integer, a.head_version) and ${from}::text is null
    ) own on true
    cross join lateral (
      select coalesce(${from}::text, own.telephony ->> 'from') as from_number, own.telephony ->> 'trunkId' as named_trunk_id
    ) c
    left join parley.numbers n on n.tenant_id = e.tenant_id and n.phone_number = c.from_number
    left join parley.trunks t on t.tenant_id = e.tenant_id and t.trunk_id = n.trunk_id
    where e.tenant_id = ${tenant_id}::uuid`,
)

/** Reads the facts for a call. One round trip. */
export async function dialFacts(
  db: Queries,
  { tenant_id }: Scope,
  { agent_id, version, from }: Call,
): Promise<DialFacts> {
  return (await facts.first(db, { tenant_id, agent_id, version, from }))!
}
