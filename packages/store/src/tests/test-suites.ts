import type { Scope, SuiteSource, TestCase } from '@parley/contract'
import { sql } from 'kysely'
import { ENVIRONMENT_LIMITS, takeTurn } from '../environment-limits.ts'
import { type KeysetColumn, type Page, type PageRequest, readPage } from '../keyset.ts'
import type { Queries } from '../protocol.ts'
import { statementTime } from '../statements.ts'
import type { StoredPrincipal } from '../stored-principal.ts'

const ITEM_COLUMNS = [
  'suite_id',
  'agent_id',
  'name',
  'revision',
  'digest',
  'source',
  'created_by',
  'created_at',
  'updated_at',
] as const

/** What an edit of a suite changes. */
export interface SuiteContent {
  readonly name: string
  readonly digest: string
  readonly cases: readonly TestCase[]
  readonly source: SuiteSource | null
}

interface SuiteHead extends Omit<SuiteContent, 'cases'> {
  readonly suite_id: string
  readonly agent_id: string | null
  readonly revision: number
  readonly created_by: StoredPrincipal
  readonly created_at: string
  readonly updated_at: string
}

export interface SuiteRow extends SuiteHead {
  readonly cases: TestCase[]
}

interface SuiteItemRow extends SuiteHead {
  readonly case_count: number
}

const NEWEST_FIRST: readonly KeysetColumn<SuiteItemRow>[] = [
  { column: 'created_at', type: 'instant', direction: 'desc' },
  { column: 'suite_id', type: 'uuid', direction: 'asc' },
]

/** Creates a suite; `limit_reached`: the environment has as many as it may have. */
export async function insertSuite(
  tx: Queries,
  scope: Scope,
  suite: SuiteContent & { readonly agent_id: string | null; readonly created_by: StoredPrincipal },
): Promise<SuiteRow | 'limit_reached'> {
  await takeTurn(tx, scope, 'suites')
  const { count } = await tx
    .selectFrom('test_suites')
    .select(sql<number>`count(*)::integer`.as('count'))
    .where('tenant_id', '=', scope.tenant_id)
    .executeTakeFirstOrThrow()
  if (count >= ENVIRONMENT_LIMITS.suites) return 'limit_reached'
  const { agent_id, created_by } = suite
  return tx
    .insertInto('test_suites')
    .values({
      tenant_id: scope.tenant_id,
      agent_id,
      created_by: JSON.stringify(created_by),
      created_at: statementTime,
      updated_at: statementTime,
      ...contentColumns(suite),
    })
    .returning([...ITEM_COLUMNS, 'cases'])
    .executeTakeFirstOrThrow()
}

interface SuiteFilter extends PageRequest {
  readonly agent_id?: string | undefined
}

/** Lists suites, newest first. Throws the refusal `invalid_cursor`. */
export function listSuites(db: Queries, scope: Scope, { agent_id, ...page }: SuiteFilter): Promise<Page<SuiteItemRow>> {
  let query = db
    .selectFrom('test_suites')
    .select([...ITEM_COLUMNS, 'case_count'])
    .where('tenant_id', '=', scope.tenant_id)
  if (agent_id !== undefined) query = query.where('agent_id', '=', agent_id)
  const binding = {
    operation: 'test_suites.list',
    tenantId: scope.tenant_id,
    filters: { agent_id },
    sort: 'created_at',
  }
  return readPage(query, NEWEST_FIRST, binding, page)
}

function selectSuites(db: Queries, scope: Scope) {
  return db
    .selectFrom('test_suites')
    .select([...ITEM_COLUMNS, 'cases'])
    .where('tenant_id', '=', scope.tenant_id)
}

export async function readSuite(db: Queries, scope: Scope, suiteId: string): Promise<SuiteRow | null> {
  return (await selectSuites(db, scope).where('suite_id', '=', suiteId).executeTakeFirst()) ?? null
}

/** As {@link readSuite}, and locks it against writes until the transaction ends. */
export async function lockSuite(tx: Queries, scope: Scope, suiteId: string): Promise<SuiteRow | null> {
  return (await selectSuites(tx, scope).where('suite_id', '=', suiteId).forUpdate().executeTakeFirst()) ?? null
}

/** Writes the content of a suite that this transaction holds locked; its revision rises by one. */
export async function writeSuite(tx: Queries, scope: Scope, suiteId: string, content: SuiteContent): Promise<SuiteRow> {
  return tx
    .updateTable('test_suites')
    .set({ ...contentColumns(content), revision: sql<number>`revision + 1`, updated_at: statementTime })
    .where('tenant_id', '=', scope.tenant_id)
    .where('suite_id', '=', suiteId)
    .returning([...ITEM_COLUMNS, 'cases'])
    .executeTakeFirstOrThrow()
}

/** Deletes a suite that this transaction holds locked. */
export async function deleteSuite(tx: Queries, scope: Scope, suiteId: string): Promise<void> {
  await tx.deleteFrom('test_suites').where('tenant_id', '=', scope.tenant_id).where('suite_id', '=', suiteId).execute()
}

function contentColumns({ name, digest, cases, source }: SuiteContent) {
  return {
    name,
    digest,
    cases: JSON.stringify(cases),
    case_count: cases.length,
    source: source === null ? null : JSON.stringify(source),
  }
}
