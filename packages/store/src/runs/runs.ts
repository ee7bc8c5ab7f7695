import type { Scope } from '@parley/contract'
import { type RawBuilder, sql } from 'kysely'
import { type KeysetColumn, type Page, readPage } from '../keyset.ts'
import type { Queries } from '../protocol.ts'
import type {
  JsonObject,
  PhoneState,
  RunAnsweredBy,
  RunChannel,
  RunContact,
  RunMode,
  RunState,
} from '../schema-runs.ts'

/** A run as the API shows it. */
export interface RunRow {
  readonly owner_id: string
  readonly environment: string
  readonly tenant_id: string
  readonly run_id: string
  readonly agent_id: string
  readonly publication: { readonly agent_id: string; readonly version: number; readonly digest: string }
  readonly plan_schema_version: number
  readonly channel: RunChannel
  readonly mode: RunMode
  readonly state: RunState
  readonly phone_state: PhoneState | null
  readonly outcome: JsonObject | null
  readonly disposition: string | null
  readonly trigger: JsonObject
  readonly created_at: string
  readonly started_at: string | null
  readonly ended_at: string | null
  readonly connected_ms: number | null
  readonly from_number: string | null
  readonly to_number: string | null
  readonly contact: RunContact | null
  readonly answered_by: RunAnsweredBy | null
  readonly successful: boolean | null
  readonly dynamic_variables: Readonly<Record<string, string>>
  readonly metadata: JsonObject | null
  readonly latency: JsonObject | null
  readonly analysis: JsonObject | null
  readonly test: boolean
  readonly caller_identity: JsonObject | null
  readonly quality: JsonObject | null
}

export interface RunFilter {
  readonly agent_id?: string | undefined
  readonly channel?: RunChannel | undefined
  readonly state?: RunState | undefined
  /** Bounds of `created_at`, ISO: `after` is inclusive, `before` exclusive. */
  readonly after?: string | undefined
  readonly before?: string | undefined
  /** Any of them. */
  readonly disposition?: readonly string[] | undefined
  readonly contact?: readonly RunContact[] | undefined
  /** Runs for which this is unknown match neither value. */
  readonly successful?: boolean | undefined
  readonly version?: number | undefined
  readonly test?: boolean | undefined
  readonly test_run_id?: string | undefined
  readonly cursor: string | null
  readonly limit: number
}

const PICKED = [
  'r.run_id',
  'r.agent_id',
  'r.version',
  'r.channel',
  'r.mode',
  'r.state',
  'r.phone_state',
  'r.outcome',
  'r.disposition',
  'r.trigger',
  'r.created_at',
  'r.started_at',
  'r.ended_at',
  'r.connected_ms',
  'r.from_number',
  'r.to_number',
  'r.contact',
  'r.answered_by',
  'r.successful',
  'r.dynamic_variables',
  'r.metadata',
  'r.latency',
  'r.analysis',
  'r.test',
  'r.caller_identity',
  'r.quality',
] as const

/** Null: the environment has no such run. */
export async function readRun(db: Queries, scope: Scope, runId: string): Promise<RunRow | null> {
  const row = await besides(db, runsQuery(db, scope).where('r.run_id', '=', runId), scope).executeTakeFirst()
  return row === undefined ? null : runOf(scope, row)
}

const NEWEST_FIRST = [
  { column: 'created_at', type: 'instant', direction: 'desc' },
  { column: 'run_id', type: 'uuid', direction: 'asc' },
] as const satisfies readonly KeysetColumn<{ created_at: string; run_id: string }>[]

/** Newest first. Throws `invalid_cursor`. */
export async function listRuns(db: Queries, scope: Scope, filter: RunFilter): Promise<Page<RunRow>> {
  const { cursor, limit, disposition, contact, ...rest } = filter
  const filters = { ...rest, disposition: disposition?.join(), contact: contact?.join() }
  const binding = { operation: 'runs.list', tenantId: scope.tenant_id, filters, sort: 'created_at' }
  const picked = filtered(db, scope, filter)
  const page = await readPage(picked, NEWEST_FIRST, binding, { cursor, limit })
  // Publications are joined for the runs of the page only.
  const versions = await versionsOf(db, scope, page.rows)
  return {
    rows: page.rows.map(row => runOf(scope, { ...row, ...versions.get(`${row.agent_id}/${row.version}`)! })),
    next_cursor: page.next_cursor,
  }
}

function runsQuery(db: Queries, scope: Scope) {
  return db.selectFrom('runs as r').select(PICKED).where('r.tenant_id', '=', scope.tenant_id)
}

function filtered(db: Queries, scope: Scope, filter: RunFilter) {
  let query = runsQuery(db, scope)
  for (const column of ['agent_id', 'channel', 'state', 'successful', 'version', 'test', 'test_run_id'] as const) {
    const value = filter[column]
    if (value !== undefined) query = query.where(`r.${column}`, '=', value)
  }
  if (filter.after !== undefined) query = query.where('r.created_at', '>=', filter.after)
  if (filter.before !== undefined) query = query.where('r.created_at', '<', filter.before)
  if (filter.disposition !== undefined) query = query.where('r.disposition', 'in', [...filter.disposition])
  if (filter.contact !== undefined) query = query.where('r.contact', 'in', [...filter.contact])
  return query
}

function besides(db: Queries, picked: ReturnType<typeof runsQuery>, scope: Scope) {
  return db
    .selectFrom(picked.as('r'))
    .innerJoin('publications as p', join =>
      join
        .on('p.tenant_id', '=', scope.tenant_id)
        .onRef('p.agent_id', '=', 'r.agent_id')
        .onRef('p.version', '=', 'r.version'),
    )
    .selectAll('r')
    .select(['p.digest', 'p.plan_schema_version'])
}

interface VersionFacts {
  readonly digest: string
  readonly plan_schema_version: number
}

async function versionsOf(
  db: Queries,
  scope: Scope,
  rows: readonly { readonly agent_id: string; readonly version: number }[],
): Promise<Map<string, VersionFacts>> {
  if (rows.length === 0) return new Map()
  const named = new Map(rows.map(({ agent_id, version }) => [`${agent_id}/${version}`, { agent_id, version }]))
  const wanted = JSON.stringify([...named.values()])
  const { rows: found } = await sql<VersionFacts & { agent_id: string; version: number }>`
    select p.agent_id, p.version, p.digest, p.plan_schema_version
    from jsonb_to_recordset(${wanted}::jsonb) as w (agent_id text, version integer)
    join parley.publications p on p.tenant_id = ${scope.tenant_id}::uuid and p.agent_id = w.agent_id and p.version = w.version`.execute(
    db,
  )
  return new Map(found.map(({ agent_id, version, ...facts }) => [`${agent_id}/${version}`, facts]))
}

type PickedRun = Awaited<ReturnType<ReturnType<typeof runsQuery>['executeTakeFirstOrThrow']>>

/** Figures of a call's quality that runs of earlier versions do not have. */
const NOT_MEASURED = {
  jitter_max_ms: null,
  mos_intervals: [],
  round_trip_ms: null,
  far_end: null,
  media_conflicts: 0,
}

/** SQL for the instant of a column of type timestamptz, as `valueParsers` reads it. */
const instant = (column: 'created_at' | 'started_at' | 'ended_at') =>
  sql`to_char(${sql.ref(`r.${column}`)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** SQL for what {@link readRun} reads, as jsonb, for a statement that stores it; null: the environment has no such run. */
export function runAsJson(
  db: Queries,
  { owner_id, environment, tenant_id }: Scope,
  runId: string,
): RawBuilder<unknown> {
  const scope = { owner_id, environment, tenant_id }
  const row = besides(db, runsQuery(db, scope).where('r.run_id', '=', runId), scope)
  return sql`(
    select ${JSON.stringify(scope)}::jsonb || (to_jsonb(r) - array['version', 'digest']) || jsonb_build_object(
      'created_at', ${instant('created_at')}, 'started_at', ${instant('started_at')}, 'ended_at', ${instant('ended_at')},
      'quality', ${JSON.stringify(NOT_MEASURED)}::jsonb || r.quality,
      'publication', jsonb_build_object('agent_id', r.agent_id, 'version', r.version, 'digest', r.digest)
    ) from ${row.as('r')}
  )`
}

function runOf({ owner_id, environment, tenant_id }: Scope, row: PickedRun & VersionFacts): RunRow {
  const { version, digest, connected_ms, quality, ...rest } = row
  return {
    owner_id,
    environment,
    tenant_id,
    ...rest,
    quality: quality === null ? null : { ...NOT_MEASURED, ...quality },
    publication: { agent_id: row.agent_id, version, digest },
    connected_ms: connected_ms === null ? null : Number(connected_ms),
  }
}
