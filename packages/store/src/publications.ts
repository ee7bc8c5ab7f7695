import type { Diagnostic, Plan, Scope } from '@parley/contract'
import { sql } from 'kysely'
import type { DraftRevision } from './drafts.ts'
import { type KeysetColumn, type Page, readPage } from './keyset.ts'
import { PreparedQuery } from './prepared-query.ts'
import type { Queries } from './protocol.ts'
import type { Channel, PublicationsTable } from './schema.ts'
import type { StoredPrincipal } from './stored-principal.ts'

/** A publication without plan and draft, as lists show it. */
export interface PublicationRow {
  readonly agent_id: string
  readonly version: number
  readonly digest: string
  readonly plan_schema_version: number
  readonly channels: Channel[]
  readonly languages: ('en' | 'es')[]
  readonly source_kind: PublicationsTable['source_kind']
  readonly published_at: string
  readonly published_by: StoredPrincipal
  readonly is_head: boolean
  readonly test: boolean
}

/** A publication with its plan. */
export interface PlannedPublication extends PublicationRow {
  readonly plan: Plan
}

/** A publication with its draft as stored JSON text: large ones are parsed on worker threads. */
interface PublishedDraft extends PublicationRow {
  readonly draft: string
}

/** A publication with plan and draft as stored JSON text. */
interface PublicationDetails extends PublishedDraft {
  readonly plan: string
  readonly warnings: Diagnostic[]
}

function publications(db: Queries, scope: Pick<Scope, 'tenant_id'>, agentId: string) {
  return db
    .selectFrom('publications as p')
    .innerJoin('agents as a', join =>
      join.onRef('a.tenant_id', '=', 'p.tenant_id').onRef('a.agent_id', '=', 'p.agent_id'),
    )
    .where('p.tenant_id', '=', scope.tenant_id)
    .where('p.agent_id', '=', agentId)
    .select([
      'p.agent_id',
      'p.version',
      'p.digest',
      'p.plan_schema_version',
      'p.channels',
      'p.languages',
      'p.source_kind',
      'p.published_at',
      'p.published_by',
      'p.test',
      sql<boolean>`p.version is not distinct from a.head_version`.as('is_head'),
    ])
}

const LATEST_FIRST: readonly KeysetColumn<PublicationRow>[] = [
  { column: 'version', type: 'integer', direction: 'desc' },
]

/** Latest first. Throws `invalid_cursor`. */
export function listPublications(
  db: Queries,
  scope: Scope,
  agentId: string,
  page: { readonly cursor: string | null; readonly limit: number },
): Promise<Page<PublicationRow>> {
  const binding = {
    operation: 'publications.list',
    tenantId: scope.tenant_id,
    filters: { agent_id: agentId },
    sort: 'version',
  }
  return readPage(publications(db, scope, agentId), LATEST_FIRST, binding, page)
}

/** A version, or the live one. */
type Wanted = number | 'head'

/** Null: there is no such version. The same holds for the other functions that read one. */
export async function readPublicationRow(
  db: Queries,
  scope: Scope,
  agentId: string,
  version: Wanted,
): Promise<PublicationRow | null> {
  return (await onePublication(db, scope, agentId, version).executeTakeFirst()) ?? null
}

export async function readPublication(
  db: Queries,
  scope: Scope,
  agentId: string,
  version: Wanted,
): Promise<PlannedPublication | null> {
  const of = { tenant_id: scope.tenant_id, agent_id: agentId }
  const found = version === 'head' ? plannedHead.first(db, of) : plannedVersion.first(db, { ...of, version })
  return (await found) ?? null
}

interface OfAgent {
  readonly tenant_id: string
  readonly agent_id: string
}

const plannedHead = new PreparedQuery((db, { tenant_id, agent_id }: OfAgent) =>
  onePublication(db, { tenant_id }, agent_id, 'head').select('p.plan'),
)

const plannedVersion = new PreparedQuery(
  (db, { tenant_id, agent_id, version }: OfAgent & { readonly version: number }) =>
    onePublication(db, { tenant_id }, agent_id, version).select('p.plan'),
)

export async function readPublishedDraft(
  db: Queries,
  scope: Scope,
  agentId: string,
  version: Wanted,
): Promise<PublishedDraft | null> {
  return (await onePublication(db, scope, agentId, version).select(DRAFT_JSON).executeTakeFirst()) ?? null
}

export async function readPublicationDetails(
  db: Queries,
  scope: Scope,
  agentId: string,
  version: Wanted,
): Promise<PublicationDetails | null> {
  const whole = onePublication(db, scope, agentId, version).select([DRAFT_JSON, PLAN_JSON, 'p.warnings'])
  return (await whole.executeTakeFirst()) ?? null
}

const DRAFT_JSON = sql<string>`p.draft::text`.as('draft')
const PLAN_JSON = sql<string>`p.plan::text`.as('plan')

function onePublication(db: Queries, scope: Pick<Scope, 'tenant_id'>, agentId: string, version: Wanted) {
  const all = publications(db, scope, agentId)
  return version === 'head' ? all.whereRef('p.version', '=', 'a.head_version') : all.where('p.version', '=', version)
}

/** A publication and the warnings of its validation. */
export interface PublishedRevision extends PublicationRow {
  readonly warnings: Diagnostic[]
}

/**
 * The version that this revision of the draft was published as with this `test`; or the version that it was opened from, if it was
 * not edited since. Null: there is none.
 */
export async function publicationOfRevision(
  tx: Queries,
  scope: Scope,
  agentId: string,
  at: DraftRevision,
  test: boolean,
): Promise<PublishedRevision | null> {
  const found = await publications(tx, scope, agentId)
    .select('p.warnings')
    .where('p.test', '=', test)
    .where(
      sql<boolean>`(
        (p.draft_id = ${at.draft_id} and p.draft_revision = ${at.revision})
        or p.version = (
          select d.base_version from parley.drafts d
          where d.tenant_id = ${scope.tenant_id} and d.draft_id = ${at.draft_id}
            and d.revision = ${at.revision} and d.published_revision = d.revision
        )
      )`,
    )
    .orderBy('p.version', 'desc')
    .limit(1)
    .executeTakeFirst()
  return found ?? null
}

/** The publication to be made of a draft; its content is copied from the draft's row. */
export interface NewPublication {
  readonly digest: string
  /** As an object, or as JSON text. */
  readonly plan: Plan | { readonly plan_schema_version: number; readonly json: string }
  readonly channels: readonly Channel[]
  readonly languages: readonly ('en' | 'es')[]
  readonly source_kind: PublicationsTable['source_kind']
  readonly published_by: StoredPrincipal
  readonly test: boolean
  readonly warnings: readonly Diagnostic[]
}

/**
 * Publishes revision `at` of the draft as the agent's next version. The head stays: `moveHead` moves it. Resolves to the version; null:
 * the draft has another revision, and nothing was changed. The agent's row must be locked.
 */
export async function insertPublication(
  tx: Queries,
  scope: Scope,
  agentId: string,
  at: DraftRevision,
  publication: NewPublication,
): Promise<number | null> {
  const { digest, plan, channels, languages, source_kind, published_by, test, warnings } = publication
  // One statement, so that a version number is used only if the revision exists, and the content comes from the same row.
  const { rows } = await sql<{ version: number }>`
    with source as (
      select content from parley.drafts
      where tenant_id = ${scope.tenant_id} and agent_id = ${agentId}
        and draft_id = ${at.draft_id} and revision = ${at.revision}
      for update
    ), numbered as (
      update parley.agents set next_version = next_version + 1
      where tenant_id = ${scope.tenant_id} and agent_id = ${agentId} and exists (select from source)
      returning next_version - 1 as version
    )
    insert into parley.publications (
      tenant_id, agent_id, version, digest, plan_schema_version, channels, languages, source_kind,
      published_by, test, draft_id, draft_revision, plan, draft, warnings
    )
    select
      ${scope.tenant_id}::uuid, ${agentId}::text, numbered.version, ${digest}::text, ${plan.plan_schema_version}::integer,
      ${channels}::text[], ${languages}::text[], ${source_kind}::text, ${JSON.stringify(published_by)}::jsonb,
      ${test}::boolean, ${at.draft_id}::uuid, ${at.revision}::integer, ${'json' in plan ? plan.json : JSON.stringify(plan)}::jsonb, source.content,
      ${JSON.stringify(warnings)}::jsonb
    from source, numbered
    returning version`.execute(tx)
  const version = rows[0]?.version
  if (version === undefined) return null
  if (test) return version
  await tx
    .updateTable('drafts')
    .set({ published_revision: at.revision, base_version: version })
    .where('tenant_id', '=', scope.tenant_id)
    .where('draft_id', '=', at.draft_id)
    .where('revision', '=', at.revision)
    .execute()
  return version
}

/**
 * Makes a version the head, and sets the agent's name and channels from it. With `expected`, only if that version is the head now.
 * False: it is not, the version does not exist or is for tests, or the agent is archived; nothing was changed.
 */
export async function moveHead(
  tx: Queries,
  scope: Scope,
  agentId: string,
  version: number,
  expected?: number | null,
): Promise<boolean> {
  const moved = await tx
    .updateTable('agents as a')
    .from('publications as p')
    .set(eb => ({
      head_version: eb.ref('p.version'),
      head_channels: eb.ref('p.channels'),
      updated_at: eb.ref('p.published_at'),
      name: sql<string>`p.draft ->> 'name'`,
    }))
    .whereRef('p.tenant_id', '=', 'a.tenant_id')
    .whereRef('p.agent_id', '=', 'a.agent_id')
    .where('p.version', '=', version)
    .where('p.test', '=', false)
    .where('a.tenant_id', '=', scope.tenant_id)
    .where('a.agent_id', '=', agentId)
    .where('a.archived_at', 'is', null)
    .$if(expected !== undefined, query =>
      query.where(sql<boolean>`a.head_version is not distinct from ${expected ?? null}::integer`),
    )
    .returning('a.agent_id')
    .executeTakeFirst()
  return moved !== undefined
}
