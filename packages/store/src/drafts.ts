import type { Scope } from '@parley/contract'
import { sql } from 'kysely'
import type { Queries } from './protocol.ts'
import type { DraftContent } from './schema.ts'

/** Which draft, and where it stands. */
export interface DraftHead {
  readonly draft_id: string
  readonly revision: number
  readonly base_version: number | null
  readonly published_revision: number | null
  readonly updated_at: string
}

/** An open draft, whole. */
export interface OpenDraft extends DraftHead {
  /** The revision that an import wrote, and the SHA-256 of what it imported; null where none did. */
  readonly imported_revision: number | null
  readonly import_digest: string | null
  readonly content: DraftContent
}

/** The compare-and-set token of a draft. */
export interface DraftRevision {
  readonly draft_id: string
  readonly revision: number
}

/** What an import writes along: of which export the draft is, as long as nobody edits it. */
export interface ImportMark {
  readonly import_digest: string
}

/** A draft's content as the JSON that is stored, where it is at hand as such. */
export interface DraftJson {
  readonly json: string
}

function jsonOf(content: DraftContent | DraftJson): string {
  return 'json' in content ? content.json : JSON.stringify(content)
}

const HEAD = ['draft_id', 'revision', 'base_version', 'published_revision', 'updated_at'] as const

/** The agent's open draft; null where there is none. */
export async function readOpenDraft(db: Queries, scope: Scope, agentId: string): Promise<OpenDraft | null> {
  const found = await db
    .selectFrom('drafts')
    .select([...HEAD, 'imported_revision', 'import_digest', 'content'])
    .where('tenant_id', '=', scope.tenant_id)
    .where('agent_id', '=', agentId)
    .executeTakeFirst()
  return found ?? null
}

/** Where a new draft comes from: `version` for one that is opened from a publication. */
export interface DraftOrigin {
  readonly version?: number
  readonly imported?: ImportMark
}

/** A draft at revision 1; null where one is open. The agent's row must be locked, so that it is not archived meanwhile. */
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

/** Writes the draft's next revision, if it still stands at `at`; null where it does not. */
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

/** Deletes the draft, if it still stands at `at`; null where it does not. */
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
