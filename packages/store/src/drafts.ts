import type { Scope } from '@parley/contract'
import { sql } from 'kysely'
import type { Queries } from './protocol.ts'
import type { DraftContent } from './schema.ts'

/** A draft and its revision. */
export interface DraftHead {
  readonly draft_id: string
  readonly revision: number
  readonly base_version: number | null
  readonly published_revision: number | null
  readonly updated_at: string
}

/** A draft, its revision, and the import that it came from. */
interface ImportedHead extends DraftHead {
  /** The revision that an import wrote, and the SHA-256 of what it imported; null: it was not imported. */
  readonly imported_revision: number | null
  readonly import_digest: string | null
}

/** An open draft with its content as stored JSON text: large ones are parsed on worker threads. */
export interface OpenDraft extends ImportedHead, DraftJson {
  readonly telephony: DraftContent['telephony']
}

/** The compare-and-set token of a draft. */
export interface DraftRevision {
  readonly draft_id: string
  readonly revision: number
}

/** The export that a draft was imported from; holds until the draft is edited. */
export interface ImportMark {
  readonly import_digest: string
}

/** The content of a draft as JSON text to be stored. */
export interface DraftJson {
  readonly json: string
}

function jsonOf(content: DraftContent | DraftJson): string {
  return 'json' in content ? content.json : JSON.stringify(content)
}

const HEAD = ['draft_id', 'revision', 'base_version', 'published_revision', 'updated_at'] as const
const IMPORTED_HEAD = [...HEAD, 'imported_revision', 'import_digest'] as const

/** The revision of the agent's open draft; null: it has none. */
export async function readDraftHead(db: Queries, scope: Scope, agentId: string): Promise<ImportedHead | null> {
  return (await openDraftOf(db, scope, agentId).select(IMPORTED_HEAD).executeTakeFirst()) ?? null
}

/** The agent's open draft; null: it has none. */
export async function readOpenDraft(db: Queries, scope: Scope, agentId: string): Promise<OpenDraft | null> {
  const found = await openDraftOf(db, scope, agentId)
    .select([
      ...IMPORTED_HEAD,
      sql<string>`content::text`.as('json'),
      sql<DraftContent['telephony']>`content -> 'telephony'`.as('telephony'),
    ])
    .executeTakeFirst()
  return found ?? null
}

/** Ids of the documents that the draft's agent and its nodes name. */
export async function documentsOfDraft(db: Queries, scope: Scope, draftId: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select distinct jsonb_array_elements_text(
      jsonb_path_query_array(content, '$.knowledge.document_ids[*] ? (@.type() == "string")')
      || jsonb_path_query_array(content, '$.flow.nodes[*].knowledge_base_ids[*] ? (@.type() == "string")')
      || jsonb_path_query_array(content, '$.flow.components[*].nodes[*].knowledge_base_ids[*] ? (@.type() == "string")')
    ) as id
    from parley.drafts where tenant_id = ${scope.tenant_id} and draft_id = ${draftId}::uuid`.execute(db)
  return rows.map(({ id }) => id)
}

function openDraftOf(db: Queries, scope: Scope, agentId: string) {
  return db.selectFrom('drafts').where('tenant_id', '=', scope.tenant_id).where('agent_id', '=', agentId)
}

/** The origin of a new draft; `version`: the publication that it was opened from. */
interface DraftOrigin {
  readonly version?: number
  readonly imported?: ImportMark
}

/** Creates a draft at revision 1; null: one is open. The agent's row must be locked, so that it is not archived meanwhile. */
export async function insertDraft(
  tx: Queries,
  scope: Scope,
  agentId: string,
  content: DraftContent | DraftJson,
  { version, imported }: DraftOrigin = {},
): Promise<DraftHead | null> {
  const inserted = await tx
    .insertInto('drafts')
    .values({
      tenant_id: scope.tenant_id,
      agent_id: agentId,
      content: jsonOf(content),
      base_version: version ?? null,
      published_revision: version === undefined ? null : 1,
      imported_revision: imported === undefined ? null : 1,
      import_digest: imported?.import_digest ?? null,
    })
    .onConflict(conflict => conflict.columns(['tenant_id', 'agent_id']).doNothing())
    .returning(HEAD)
    .executeTakeFirst()
  return inserted ?? null
}

/** Writes the draft's next revision if its revision is still `at`; null: it is not. */
export async function writeDraft(
  tx: Queries,
  scope: Scope,
  agentId: string,
  at: DraftRevision,
  content: DraftContent | DraftJson,
  imported?: ImportMark,
): Promise<DraftHead | null> {
  const written = await tx
    .updateTable('drafts')
    .set({
      content: jsonOf(content),
      revision: at.revision + 1,
      updated_at: sql<string>`parley.now_ms()`,
      ...(imported !== undefined && { imported_revision: at.revision + 1, import_digest: imported.import_digest }),
    })
    .where('tenant_id', '=', scope.tenant_id)
    .where('agent_id', '=', agentId)
    .where('draft_id', '=', at.draft_id)
    .where('revision', '=', at.revision)
    .returning(HEAD)
    .executeTakeFirst()
  return written ?? null
}

/** Deletes the draft if its revision is still `at`; null: it is not. */
export async function deleteDraft(
  tx: Queries,
  scope: Scope,
  agentId: string,
  at: DraftRevision,
): Promise<DraftHead | null> {
  const deleted = await tx
    .deleteFrom('drafts')
    .where('tenant_id', '=', scope.tenant_id)
    .where('agent_id', '=', agentId)
    .where('draft_id', '=', at.draft_id)
    .where('revision', '=', at.revision)
    .returning(HEAD)
    .executeTakeFirst()
  return deleted ?? null
}
