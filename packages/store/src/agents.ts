import type { Scope } from '@parley/contract'
import { type SelectQueryBuilder, sql } from 'kysely'
import { type CursorBinding, cutPage, decodeCursor, isAfter, type KeysetColumn, type Page } from './keyset.ts'
import { PreparedQuery } from './prepared-query.ts'
import type { Queries } from './protocol.ts'
import type { Channel, Schema } from './schema.ts'
import type { RunState } from './schema-runs.ts'

/** An agent with what stands beside it in a list; null where there is no head or no open draft. */
export interface AgentRow {
  readonly agent_id: string
  readonly name: string
  readonly created_at: string
  readonly updated_at: string
  readonly archived_at: string | null
  readonly head_version: number | null
  readonly digest: string | null
  readonly channels: Channel[] | null
  readonly languages: ('en' | 'es')[] | null
  readonly published_at: string | null
  readonly draft_id: string | null
  readonly revision: number | null
  readonly base_version: number | null
  readonly published_revision: number | null
  /** The most recent run of any version that was no test. */
  readonly run_id: string | null
  readonly run_created_at: string | null
  readonly run_state: RunState | null
  readonly run_disposition: string | null
}

export interface AgentFilter {
  readonly sort: 'updated_desc' | 'name_asc'
  /** Part of name or id, whatever the case; blank: all. */
  readonly q?: string | undefined
  /** Only agents whose head serves it. */
  readonly channel?: Channel | undefined
  readonly cursor: string | null
  readonly limit: number
}

const ORDERS = {
  updated_desc: [
    { column: 'updated_at', type: 'instant', direction: 'desc' },
    { column: 'agent_id', type: 'text', direction: 'asc' },
  ],
  name_asc: [
    { column: 'sort_name', type: 'text', direction: 'asc' },
    { column: 'agent_id', type: 'text', direction: 'asc' },
  ],
} as const satisfies Record<AgentFilter['sort'], readonly KeysetColumn<PickedAgent>[]>

type Picked = SelectQueryBuilder<Schema, 'agents', PickedAgent>

interface PickedAgent {
  agent_id: string
  name: string
  sort_name: string
  created_at: string
  updated_at: string
  archived_at: string | null
  head_version: number | null
}

const PICKED = [
  'agent_id',
  'name',
  'sort_name',
  'created_at',
  'updated_at',
  'archived_at',
  'head_version',
] as const satisfies (keyof PickedAgent)[]

const oneAgent = new PreparedQuery((db, given: { readonly tenant_id: string; readonly agent_id: string }) => {
  const { tenant_id, agent_id } = given
  const picked = db
    .selectFrom('agents')
    .select(PICKED)
    .where('tenant_id', '=', tenant_id)
    .where('agent_id', '=', agent_id)
  return besides(db, tenant_id, picked)
})

/** One agent, archived or not; null where the environment never had it. */
export async function readAgent(db: Queries, { tenant_id }: Scope, agent_id: string): Promise<AgentRow | null> {
  const [row] = await oneAgent.rows(db, { tenant_id, agent_id })
  return row ?? null
}

/** Agents that are not archived. Throws `invalid_cursor`. */
export async function listAgents(db: Queries, scope: Scope, filter: AgentFilter): Promise<Page<AgentRow>> {
  const { cursor, q, channel, sort, limit } = filter
  const isPlain = cursor === null && channel === undefined && partLookedFor(q) === ''
  const rows = isPlain
    ? await firstPages[sort].rows(db, { tenant_id: scope.tenant_id, most: limit + 1 })
    : await agentsQuery(db, scope, { ...filter, limit: limit + 1 }).execute()
  return cutPage(rows, ORDERS[filter.sort], bindingOf(scope, filter), filter.limit)
}

/** The pages that are asked for most, by their order. */
const firstPages = { updated_desc: firstPage('updated_desc'), name_asc: firstPage('name_asc') }

function firstPage(sort: AgentFilter['sort']) {
  type Given = { readonly tenant_id: string; readonly most: number }
  return new PreparedQuery((db, { tenant_id, most }: Given) =>
    agentsQuery(db, { tenant_id }, { sort, limit: most, cursor: null }),
  )
}

function bindingOf({ tenant_id }: Pick<Scope, 'tenant_id'>, { sort, q, channel }: AgentFilter): CursorBinding {
  return { operation: 'agents.list', tenantId: tenant_id, filters: { q: partLookedFor(q), channel }, sort }
}

/** At most `limit` agents. */
export function agentsQuery(db: Queries, scope: Pick<Scope, 'tenant_id'>, filter: AgentFilter) {
  const order = ORDERS[filter.sort]
  const part = partLookedFor(filter.q)
  let picked: Picked = db
    .selectFrom('agents')
    .select(PICKED)
    .where('tenant_id', '=', scope.tenant_id)
    .where('archived_at', 'is', null)
    .limit(filter.limit)
  for (const { column, direction } of order) picked = picked.orderBy(column, direction)
  if (part !== '') picked = picked.where(holds(part))
  if (filter.channel !== undefined) picked = picked.where(sql<boolean>`head_channels @> array[${filter.channel}::text]`)
  if (filter.cursor !== null)
    picked = picked.where(isAfter(order, decodeCursor(bindingOf(scope, filter), order, filter.cursor)))
  let rows = besides(db, scope.tenant_id, picked)
  for (const { column, direction } of order) rows = rows.orderBy(`a.${column}`, direction)
  return rows
}

/** As it was asked for, white space around it included; empty: everything. */
function partLookedFor(q = ''): string {
  return q.trim() === '' ? '' : q
}

/**
 * Whether name or id have this part, whatever the case; ids are lower-case as they are made. No pattern: what looks like
 * one is looked for as it is.
 */
function holds(part: string) {
  const lower = sql<string>`lower(${part}::text collate "pg_c_utf8")`
  return sql<boolean>`(strpos(sort_name, ${lower}) > 0 or strpos(agent_id, ${lower}) > 0)`
}

/** Heads, drafts and last runs are looked up for the agents that were picked only, never for a whole environment. */
function besides(db: Queries, tenant_id: string, picked: Picked) {
  return db
    .selectFrom(picked.as('a'))
    .leftJoin('publications as p', join =>
      join
        .on('p.tenant_id', '=', tenant_id)
        .onRef('p.agent_id', '=', 'a.agent_id')
        .onRef('p.version', '=', 'a.head_version'),
    )
    .leftJoin('drafts as d', join => join.on('d.tenant_id', '=', tenant_id).onRef('d.agent_id', '=', 'a.agent_id'))
    .leftJoinLateral(
      run =>
        run
          .selectFrom('runs')
          .select(['run_id', 'created_at', 'state', 'disposition'])
          .where('runs.tenant_id', '=', tenant_id)
          .whereRef('runs.agent_id', '=', 'a.agent_id')
          .where('test', '=', false)
          .orderBy('created_at', 'desc')
          .orderBy('run_id')
          .limit(1)
          .as('r'),
      join => join.onTrue(),
    )
    .select([
      'a.agent_id',
      'a.name',
      'a.sort_name',
      'a.created_at',
      'a.updated_at',
      'a.archived_at',
      'a.head_version',
      'p.digest',
      'p.channels',
      'p.languages',
      'p.published_at',
      'd.draft_id',
      'd.revision',
      'd.base_version',
      'd.published_revision',
      'r.run_id',
      'r.created_at as run_created_at',
      'r.state as run_state',
      'r.disposition as run_disposition',
    ])
}

/** False where the id is or was another agent's: ids are never given twice. */
export async function insertAgent(tx: Queries, scope: Scope, agentId: string, name: string): Promise<boolean> {
  const inserted = await tx
    .insertInto('agents')
    // One instant in both, so that an agent without a head says when it was made.
    .columns(['tenant_id', 'agent_id', 'name', 'created_at', 'updated_at'])
    .expression(
      sql`select ${scope.tenant_id}::uuid, ${agentId}::text, ${name}::text, made.at, made.at from (select parley.now_ms() as at offset 0) made`,
    )
    .onConflict(conflict => conflict.columns(['tenant_id', 'agent_id']).doNothing())
    .returning('agent_id')
    .executeTakeFirst()
  return inserted !== undefined
}

/** Which agents there are, and their heads, while it is decided what becomes of one. */
interface LockedAgent {
  readonly agent_id: string
  readonly name: string
  readonly archived_at: string | null
  readonly head_version: number | null
}

/** Keeps everybody else from changing, publishing or archiving the agent until the transaction ends; null: never made. */
export async function lockAgent(tx: Queries, scope: Scope, agentId: string): Promise<LockedAgent | null> {
  const locked = await tx
    .selectFrom('agents')
    .select(['agent_id', 'name', 'archived_at', 'head_version'])
    .where('tenant_id', '=', scope.tenant_id)
    .where('agent_id', '=', agentId)
    .forNoKeyUpdate()
    .executeTakeFirst()
  return locked ?? null
}

/** An agent without a head is called what its draft is called. */
export async function renameUnpublished(tx: Queries, scope: Scope, agentId: string, name: string): Promise<void> {
  await tx
    .updateTable('agents')
    .set({ name })
    .where('tenant_id', '=', scope.tenant_id)
    .where('agent_id', '=', agentId)
    .where('head_version', 'is', null)
    .where('name', '!=', name)
    .execute()
}

/**
 * The agent leaves the catalogue, its draft goes, its numbers reach nobody. Answers the numbers that lost it; null where
 * it was archived before or never made.
 */
export async function archiveAgent(tx: Queries, scope: Scope, agentId: string): Promise<string[] | null> {
  const archived = await tx
    .updateTable('agents')
    .set({ archived_at: sql<string>`parley.now_ms()` })
    .where('tenant_id', '=', scope.tenant_id)
    .where('agent_id', '=', agentId)
    .where('archived_at', 'is', null)
    .returning('agent_id')
    .executeTakeFirst()
  if (archived === undefined) return null
  await tx.deleteFrom('drafts').where('tenant_id', '=', scope.tenant_id).where('agent_id', '=', agentId).execute()
  const numbers = await tx
    .updateTable('numbers')
    .set({ agent_id: null, version: null, updated_at: sql<string>`parley.now_ms()` })
    .where('tenant_id', '=', scope.tenant_id)
    .where('agent_id', '=', agentId)
    .returning('number_id')
    .execute()
  return numbers.map(number => number.number_id)
}
