import { createHash } from 'node:crypto'
import type { Scope } from '@parley/contract'
import { sql } from 'kysely'
import { ENVIRONMENT_LIMITS, takeTurn } from '../environment-limits.ts'
import { type KeysetColumn, type Page, type PageRequest, readPage } from '../keyset.ts'
import type { Queries } from '../protocol.ts'
import { finishGenerations } from './generations.ts'

export interface DocumentRow {
  readonly document_id: string
  readonly title: string
  readonly media_type: string
  readonly source_url: string | null
  readonly byte_size: number
  readonly sha256: string
  readonly state: 'pending' | 'embedded' | 'failed'
  readonly chunk_count: number | null
  readonly error: string | null
  readonly created_at: string
  readonly expires_at: string | null
}

interface NewDocument {
  readonly title: string
  readonly media_type: string
  readonly source_url: string | null
  readonly content: Buffer
}

/** Documents with what became of them in the newest ready generation, or in the newest one where none is ready. */
function selectDocuments(db: Queries, scope: Scope) {
  return db
    .selectFrom('knowledge_documents as d')
    .select([
      'd.document_id',
      'd.title',
      'd.media_type',
      'd.source_url',
      'd.byte_size',
      'd.chunk_count',
      'd.created_at',
    ])
    .select([
      sql<string>`encode(d.sha256, 'hex')`.as('sha256'),
      sql<string | null>`d.created_at + (
        select t.document_days from parley.tenants t where t.tenant_id = d.tenant_id
      ) * interval '1 day'`.as('expires_at'),
      sql<DocumentRow['state']>`case
        when d.error is not null then 'failed'
        else coalesce((
          select e.state from parley.knowledge_embeddings e
          join parley.knowledge_generations g on g.tenant_id = e.tenant_id and g.generation_id = e.generation_id
          where e.tenant_id = d.tenant_id and e.document_id = d.document_id and g.state <> 'failed'
          order by g.state = 'ready' desc, g.created_at desc limit 1
        ), 'pending') end`.as('state'),
      sql<string | null>`coalesce(d.error, (
        select e.error from parley.knowledge_embeddings e
        join parley.knowledge_generations g on g.tenant_id = e.tenant_id and g.generation_id = e.generation_id
        where e.tenant_id = d.tenant_id and e.document_id = d.document_id and e.state = 'failed' and g.state <> 'failed'
        order by g.state = 'ready' desc, g.created_at desc limit 1
      ))`.as('error'),
    ])
    .where('d.tenant_id', '=', scope.tenant_id)
}

const NEWEST_FIRST: readonly KeysetColumn<DocumentRow>[] = [
  { column: 'created_at', type: 'instant', direction: 'desc' },
  { column: 'document_id', type: 'uuid', direction: 'asc' },
]

/** Lists documents, the newest first. Throws the refusal `invalid_cursor`. */
export function listDocuments(db: Queries, scope: Scope, page: PageRequest): Promise<Page<DocumentRow>> {
  const binding = { operation: 'knowledge.documents_list', tenantId: scope.tenant_id, filters: {}, sort: 'created_at' }
  return readPage(selectDocuments(db, scope), NEWEST_FIRST, binding, page)
}

async function documentOf(db: Queries, scope: Scope, documentId: string): Promise<DocumentRow | null> {
  return (await selectDocuments(db, scope).where('d.document_id', '=', documentId).executeTakeFirst()) ?? null
}

/** Stores a document, which then waits to join the generations that are ready or being built. */
export async function insertDocument(
  tx: Queries,
  scope: Scope,
  { title, media_type, source_url, content }: NewDocument,
): Promise<DocumentRow | 'limit_reached'> {
  await takeTurn(tx, scope, 'documents')
  const { rows: counted } = await sql<{ count: number }>`
    select count(*)::integer as count from parley.knowledge_documents where tenant_id = ${scope.tenant_id}`.execute(tx)
  if ((counted[0]?.count ?? 0) >= ENVIRONMENT_LIMITS.documents) return 'limit_reached'
  const { document_id } = await tx
    .insertInto('knowledge_documents')
    .values({
      tenant_id: scope.tenant_id,
      title,
      media_type,
      source_url,
      byte_size: content.length,
      sha256: createHash('sha256').update(content).digest(),
    })
    .returning('document_id')
    .executeTakeFirstOrThrow()
  await sql`
    insert into parley.knowledge_contents (tenant_id, document_id, content)
    values (${scope.tenant_id}, ${document_id}::uuid, ${content})`.execute(tx)
  // A generation that is finished or superseded at this moment is locked, so that no document is left out of it.
  await sql`
    insert into parley.knowledge_embeddings (tenant_id, generation_id, document_id)
    select g.tenant_id, g.generation_id, ${document_id}::uuid from (
      select tenant_id, generation_id from parley.knowledge_generations
      where tenant_id = ${scope.tenant_id} and state <> 'failed' for share
    ) g`.execute(tx)
  return (await documentOf(tx, scope, document_id))!
}

/** Deletes the document with all that was made of it and returns its last state; null: there is none. */
export async function deleteDocument(tx: Queries, scope: Scope, documentId: string): Promise<DocumentRow | null> {
  await lockGenerations(tx, scope)
  const last = await documentOf(tx, scope, documentId)
  if (last === null) return null
  await removeDocument(tx, scope, documentId)
  await finishGenerations(tx, scope)
  return last
}

/** Generations are locked before documents, here and where a try is settled, so that neither waits for the other. */
async function lockGenerations(tx: Queries, scope: Scope): Promise<void> {
  await sql`
    select from parley.knowledge_generations where tenant_id = ${scope.tenant_id} order by generation_id for update`.execute(
    tx,
  )
}

async function removeDocument(tx: Queries, scope: Scope, documentId: string): Promise<void> {
  await countLexemes(tx, scope, documentId, -1)
  await sql`
    delete from parley.knowledge_lexemes l
    where l.tenant_id = ${scope.tenant_id}::uuid and l.chunks <= 0 and l.lexeme in (
      select unnest(tsvector_to_array(c.words)) from parley.knowledge_chunks c
      where c.tenant_id = ${scope.tenant_id}::uuid and c.document_id = ${documentId}::uuid
    )`.execute(tx)
  await sql`
    update parley.knowledge_generations g set removed = removed + 1
    where g.tenant_id = ${scope.tenant_id} and exists (
      select from parley.knowledge_embeddings e
      where e.tenant_id = g.tenant_id and e.generation_id = g.generation_id and e.document_id = ${documentId}::uuid
        and e.state = 'embedded'
    )`.execute(tx)
  await sql`
    delete from parley.knowledge_documents
    where tenant_id = ${scope.tenant_id} and document_id = ${documentId}::uuid`.execute(tx)
}

/** Deletes at most `atMost` documents that are past their retention; returns how many. */
export async function expireDocuments(tx: Queries, scope: Scope, atMost: number): Promise<number> {
  await lockGenerations(tx, scope)
  const { rows } = await sql<{ document_id: string }>`
    select d.document_id from parley.knowledge_documents d
    join parley.tenants t using (tenant_id)
    where d.tenant_id = ${scope.tenant_id}
      and d.created_at <= statement_timestamp() - t.document_days * interval '1 day'
    order by d.document_id limit ${atMost}::integer for update of d skip locked`.execute(tx)
  for (const { document_id } of rows) await removeDocument(tx, scope, document_id)
  if (rows.length > 0) await finishGenerations(tx, scope)
  return rows.length
}

/** Adds (`sign` 1) the lexemes of a document's chunks to the environment's counts, or takes them out (-1). */
export async function countLexemes(tx: Queries, scope: Scope, documentId: string, sign: 1 | -1): Promise<void> {
  // Rows are locked in the order of the lexemes, so that two documents never wait for each other.
  await sql`
    insert into parley.knowledge_lexemes as l (tenant_id, lexeme, chunks)
    select ${scope.tenant_id}::uuid, u.lexeme, (count(*) * ${sign}::integer)::integer
    from parley.knowledge_chunks c cross join lateral unnest(tsvector_to_array(c.words)) as u (lexeme)
    where c.tenant_id = ${scope.tenant_id} and c.document_id = ${documentId}::uuid
    group by u.lexeme order by u.lexeme collate "C"
    on conflict (tenant_id, lexeme) do update set chunks = l.chunks + excluded.chunks`.execute(tx)
}

/** Which of these documents exist. */
export async function existingDocuments(
  db: Queries,
  scope: Scope,
  documentIds: readonly string[],
): Promise<readonly string[]> {
  const { rows } = await sql<{ document_id: string }>`
    select document_id from parley.knowledge_documents
    where tenant_id = ${scope.tenant_id} and document_id = any (${documentIds}::uuid[])`.execute(db)
  return rows.map(row => row.document_id)
}
