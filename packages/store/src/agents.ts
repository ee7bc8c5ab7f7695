import type { Scope } from '@parley/contract'
import { type SelectQueryBuilder, sql } from 'kysely'
import { type CursorBinding, cutPage, decodeCursor, isAfter, type KeysetColumn, type Page } from './keyset.ts'
import { PreparedQuery } from './prepared-query.ts'
import type { Queries } from './protocol.ts'
import type { Channel, Schema } from './schema.ts'
import type { RunState } from './schema-runs.ts'

/** An agent as a list shows it; its head and its open draft are null if it has none. */
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
  /** The most recent run of any version, tests excluded. */
  readonly run_id: string | null
  readonly run_created_at: string | null
  readonly run_state: RunState | null
  readonly run_disposition: string | null
}

export interface AgentFilter {
  readonly sort: 'updated_desc' | 'name_asc'
  /** Part of the name or id, in any case; blank: all. */
  readonly q?: string | undefined
  /** Only agents whose head serves this channel. */
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

/** One agent, archived or not; null: the environment never had it. */
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

/** Prepared queries of the most requested pages, by sort order. */
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

/** The search text as requested, including surrounding white space; empty: everything. */
function partLookedFor(q = ''): string {
  return q.trim() === '' ? '' : q
}

/**
 * Whether the name or id contains this text, in any case; ids are always lower-case. Wildcards in the text have no meaning.
 */
function holds(part: string) {
  const lower = sql<string>`parley.lowered(${part}::text)`
  return sql<boolean>`(strpos(sort_name, ${lower}) > 0 or strpos(agent_id, ${lower}) > 0)`
}

/** Heads, drafts and last runs are read only for the agents of the page, never for a whole environment. */
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

/** False: the id is or was another agent's. Ids are never reused. */
export async function insertAgent(tx: Queries, scope: Scope, agentId: string, name: string): Promise<boolean> {
  const inserted = await tx
    .insertInto('agents')
    // The same time in both columns, so that an agent without a head shows when it was created.
    .columns(['tenant_id', 'agent_id', 'name', 'created_at', 'updated_at'])
    .expression(
      sql`select ${scope.tenant_id}::uuid, ${agentId}::text, ${name}::text, made.at, made.at from (select parley.now_ms() as at offset 0) made`,
    )
    .onConflict(conflict => conflict.columns(['tenant_id', 'agent_id']).doNothing())
    .returning('agent_id')
    .executeTakeFirst()
  return inserted !== undefined
}

/** An agent and its head, with its row locked. */
interface LockedAgent {
  readonly agent_id: string
  readonly name: string
  readonly archived_at: string | null
  readonly head_version: number | null
}

/** Locks the agent against changing, publishing and archiving until the transaction ends; null: it never existed. */
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

/** An agent without a head has the name of its draft. */
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
 * Archives the agent: deletes its draft and unassigns its numbers. Resolves to those numbers; null: it was archived before or never
 * existed.
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
