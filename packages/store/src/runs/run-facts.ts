import type { Scope } from '@parley/contract'
import { sql } from 'kysely'
import { type EnvironmentReferences, secretsOf } from '../environment-references.ts'
import { PreparedQuery } from '../prepared-query.ts'
import type { Queries } from '../protocol.ts'
import type { PlannedPublication } from '../publications.ts'
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

/** The publication of a run, and what the environment has for it. */
export interface RunFacts
  extends Pick<
    PlannedPublication,
    'agent_id' | 'version' | 'digest' | 'plan_schema_version' | 'channels' | 'test' | 'plan'
  > {
  readonly secrets: EnvironmentReferences['secrets']
}

interface Asked {
  readonly agent_id: string
  /** Null: the head of the agent. */
  readonly version: number | null
}

interface AskedCall extends Asked {
  /** Caller number that the request names; null: that of the publication. */
  readonly from: string | null
}

type InTenant = Pick<Scope, 'tenant_id'>

/** Columns of {@link RunFacts}; `p` is the publication. */
const COLUMNS = sql`
  p.agent_id, p.version, p.digest, p.plan_schema_version, p.channels, p.test, p.plan, ${secretsOf(sql`p.tenant_id`)} as secrets`

function publicationOf({ tenant_id, agent_id, version }: Asked & InTenant) {
  return sql`(
    select p.* from parley.agents a join parley.publications p using (tenant_id, agent_id)
    where a.tenant_id = ${tenant_id}::uuid and a.agent_id = ${agent_id}::text
      and p.version = coalesce(${version}::integer, a.head_version)
  ) p`
}

const runFacts = new PreparedQuery(
  (_, asked: Asked & InTenant) => sql<RunFacts>`select ${COLUMNS} from ${publicationOf(asked)}`,
)

const callFacts = new PreparedQuery(
  (_, asked: AskedCall & InTenant) => sql<RunFacts & DialFacts>`
    select ${COLUMNS}, c.from_number, c.named_trunk_id,
      exists (select from parley.trunks t where t.tenant_id = p.tenant_id and t.trunk_id = c.named_trunk_id) as has_trunk,
      n.trunk_id as number_trunk_id,
      t.auth_secret_id is null or exists (
        select from parley.secrets s join parley.secret_versions v using (tenant_id, secret_id)
        where s.tenant_id = p.tenant_id and s.secret_id = t.auth_secret_id and s.deleted_at is null
          and v.version::text = t.auth_secret_version
      ) as has_secret,
      e.destinations,
      case when e.destinations is null then ${ownNumbers(sql`p.tenant_id`)} else '{}' end as own_numbers
    from ${publicationOf(asked)}
    join parley.tenants e using (tenant_id)
    cross join lateral (
      select case when ${asked.from}::text is null then p.plan -> 'telephony' end as telephony
    ) own
    cross join lateral (
      select coalesce(${asked.from}::text, own.telephony ->> 'from') as from_number, own.telephony ->> 'trunkId' as named_trunk_id
    ) c
    left join parley.numbers n on n.tenant_id = p.tenant_id and n.phone_number = c.from_number
    left join parley.trunks t on t.tenant_id = p.tenant_id and t.trunk_id = n.trunk_id`,
)

/** The facts of a run that places no call; null: the agent has no such version. One statement. */
export async function factsOfRun(db: Queries, { tenant_id }: Scope, asked: Asked): Promise<RunFacts | null> {
  return (await runFacts.first(db, { tenant_id, ...asked })) ?? null
}

/** The facts of a run that places a call; null: the agent has no such version. One statement. */
export async function factsOfCall(
  db: Queries,
  { tenant_id }: Scope,
  asked: AskedCall,
): Promise<(RunFacts & DialFacts) | null> {
  return (await callFacts.first(db, { tenant_id, ...asked })) ?? null
}
