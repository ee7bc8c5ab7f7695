import type { Scope } from '@parley/contract'
import { sql } from 'kysely'
import { ENVIRONMENT_LIMITS, takeTurn } from './environment-limits.ts'
import { type KeysetColumn, type Page, type PageRequest, readPage } from './keyset.ts'
import { PreparedQuery } from './prepared-query.ts'
import type { Queries } from './protocol.ts'
import type { NewRun } from './runs/admission.ts'
import type { Channel } from './schema.ts'
import { statementTime } from './statements.ts'

const NUMBER_COLUMNS = [
  'number_id',
  'phone_number',
  'trunk_id',
  'name',
  'agent_id',
  'version',
  'created_at',
  'updated_at',
] as const

/** How calls reach a number: see `PhoneNumber.inbound` of the contract. */
const INBOUND = sql<NumberRow['inbound']>`case when numbers.confirmed_at is not null then 'address'
  when (select k.inbound from parley.trunks k where k.tenant_id = numbers.tenant_id and k.trunk_id = numbers.trunk_id) then 'token'
  else 'unconfirmed' end`.as('inbound')

export interface NumberRow {
  readonly number_id: string
  readonly phone_number: string
  readonly trunk_id: string
  readonly name: string | null
  /** The agent that answers; null: none. */
  readonly agent_id: string | null
  /** Null: the agent's head. */
  readonly version: number | null
  readonly inbound: 'token' | 'address' | 'unconfirmed'
  readonly created_at: string
  readonly updated_at: string
}

function selectNumbers(db: Queries, scope: Scope) {
  return db.selectFrom('numbers').select(NUMBER_COLUMNS).select(INBOUND).where('tenant_id', '=', scope.tenant_id)
}

interface NumberFilter extends PageRequest {
  readonly trunk_id?: string | undefined
  readonly agent_id?: string | undefined
}

const BY_NUMBER: readonly KeysetColumn<NumberRow>[] = [{ column: 'phone_number', type: 'text', direction: 'asc' }]

/** Lists numbers by phone number, ascending. Throws the refusal `invalid_cursor`. */
export function listNumbers(db: Queries, scope: Scope, filter: NumberFilter): Promise<Page<NumberRow>> {
  const { trunk_id, agent_id } = filter
  let numbers = selectNumbers(db, scope)
  if (trunk_id !== undefined) numbers = numbers.where('trunk_id', '=', trunk_id)
  if (agent_id !== undefined) numbers = numbers.where('agent_id', '=', agent_id)
  const filters = { trunk_id, agent_id }
  const binding = { operation: 'numbers.list', tenantId: scope.tenant_id, filters, sort: 'phone_number' }
  return readPage(numbers, BY_NUMBER, binding, filter)
}

export async function numberOf(db: Queries, scope: Scope, numberId: string): Promise<NumberRow | null> {
  return (await selectNumbers(db, scope).where('number_id', '=', numberId).executeTakeFirst()) ?? null
}

/** Creates a number without an agent; or the first that applies of `no_trunk`, `number_exists`, `limit_reached`. */
export async function insertNumber(
  tx: Queries,
  scope: Scope,
  number: { readonly phone_number: string; readonly trunk_id: string; readonly name: string | null },
): Promise<NumberRow | 'no_trunk' | 'number_exists' | 'limit_reached'> {
  await takeTurn(tx, scope, 'numbers')
  const trunk = await tx
    .selectFrom('trunks')
    .select('trunk_id')
    .where('tenant_id', '=', scope.tenant_id)
    .where('trunk_id', '=', number.trunk_id)
    .forKeyShare()
    .executeTakeFirst()
  if (trunk === undefined) return 'no_trunk'
  const { count, exists } = await tx
    .selectFrom('numbers')
    .select([
      sql<number>`count(*)::integer`.as('count'),
      sql<boolean>`coalesce(bool_or(phone_number = ${number.phone_number}), false)`.as('exists'),
    ])
    .where('tenant_id', '=', scope.tenant_id)
    .executeTakeFirstOrThrow()
  if (exists) return 'number_exists'
  if (count >= ENVIRONMENT_LIMITS.numbers) return 'limit_reached'
  return tx
    .insertInto('numbers')
    .values({ ...number, tenant_id: scope.tenant_id, created_at: statementTime, updated_at: statementTime })
    .returning(NUMBER_COLUMNS)
    .returning(INBOUND)
    .executeTakeFirstOrThrow()
}

/** Deletes the number and returns its last state; null: there is none. */
export async function deleteNumber(tx: Queries, scope: Scope, numberId: string): Promise<NumberRow | null> {
  const gone = await tx
    .deleteFrom('numbers')
    .where('tenant_id', '=', scope.tenant_id)
    .where('number_id', '=', numberId)
    .returning(NUMBER_COLUMNS)
    .returning(INBOUND)
    .executeTakeFirst()
  return gone ?? null
}

/** Assigns the agent that answers the number; repeating it changes nothing. Null: there is no such number. */
export async function writeAssignment(
  tx: Queries,
  scope: Scope,
  numberId: string,
  assignment: { readonly agent_id: string; readonly version: number | null } | null,
): Promise<NumberRow | null> {
  const agentId = assignment?.agent_id ?? null
  const version = assignment?.version ?? null
  const written = await tx
    .updateTable('numbers')
    .set({
      agent_id: agentId,
      version,
      updated_at: sql<string>`case
        when (agent_id, version) is not distinct from (${agentId}::text, ${version}::integer) then updated_at
        else ${statementTime} end`,
    })
    .where('tenant_id', '=', scope.tenant_id)
    .where('number_id', '=', numberId)
    .returning(NUMBER_COLUMNS)
    .returning(INBOUND)
    .executeTakeFirst()
  return written ?? null
}

/** The properties of an agent that decide whether it can answer a number. */
interface AnsweringAgent {
  readonly archived_at: string | null
  readonly head_version: number | null
  /** Channels of the head; empty without a head. */
  readonly head_channels: readonly Channel[]
}

/** The agent, locked against archiving until the transaction ends; null: there is none. */
export async function lockAgentAgainstArchiving(
  tx: Queries,
  scope: Scope,
  agentId: string,
): Promise<AnsweringAgent | null> {
  return (await lockedAgent.first(tx, { tenant_id: scope.tenant_id, agent_id: agentId })) ?? null
}

const lockedAgent = new PreparedQuery(
  (db, { tenant_id, agent_id }: { readonly tenant_id: string; readonly agent_id: string }) =>
    db
      .selectFrom('agents')
      .select(['archived_at', 'head_version', 'head_channels'])
      .where('tenant_id', '=', tenant_id)
      .where('agent_id', '=', agent_id)
      .forShare(),
)

/** As {@link lockAgentAgainstArchiving}, with a name and the time for a run of it (`NewRun`). */
export async function lockAgentForRun(
  tx: Queries,
  scope: Scope,
  agentId: string,
): Promise<(AnsweringAgent & NewRun) | null> {
  return (await lockedForRun.first(tx, { tenant_id: scope.tenant_id, agent_id: agentId })) ?? null
}

const lockedForRun = new PreparedQuery(
  (db, { tenant_id, agent_id }: { readonly tenant_id: string; readonly agent_id: string }) =>
    db
      .selectFrom('agents')
      .select(['archived_at', 'head_version', 'head_channels'])
      .select([sql<string>`parley.uuidv7()`.as('run_id'), sql<string>`parley.now_ms()`.as('created_at')])
      .where('tenant_id', '=', tenant_id)
      .where('agent_id', '=', agent_id)
      .forShare(),
)

/** The channels of a version of an agent; null: there is no such version. Publications never change. */
export async function publishedVersion(
  db: Queries,
  scope: Scope,
  agentId: string,
  version: number,
): Promise<{ readonly test: boolean; readonly channels: readonly Channel[] } | null> {
  const found = await db
    .selectFrom('publications')
    .select(['test', 'channels'])
    .where('tenant_id', '=', scope.tenant_id)
    .where('agent_id', '=', agentId)
    .where('version', '=', version)
    .executeTakeFirst()
  return found ?? null
}
