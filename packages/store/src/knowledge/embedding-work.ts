import type { Scope } from '@parley/contract'
import { sql } from 'kysely'
import type { Queries } from '../protocol.ts'
import { countLexemes } from './documents.ts'
import { type EmbeddingModel, failGeneration, finishGenerations } from './generations.ts'
import { MAX_TABLE_DIMENSION, storeVectors } from './vector-table.ts'

/** A document that one process embeds for one generation, until its lease ends. */
export interface DueDocument {
  readonly scope: Scope
  readonly document_id: string
  readonly generation_id: string
  readonly model: EmbeddingModel
  readonly title: string
  readonly media_type: string
  /** Tries begun, this one included; also the fence of the process that tries. */
  readonly attempts: number
  /** Null: its content was not read yet. */
  readonly chunk_count: number | null
}

/** One passage of a document. */
export interface Chunk {
  readonly text: string
  /** Configuration of the full text search: how its words are stemmed. */
  readonly language: 'english' | 'spanish' | 'simple'
}

/** What came of a try. */
export type EmbeddingResult =
  /** One vector for each chunk, each of length 1. */
  | { readonly kind: 'embedded'; readonly vectors: readonly Float32Array[] }
  /** The document cannot be embedded, whatever the model does. */
  | { readonly kind: 'document_failed'; readonly error: string }
  /** The model cannot be used: a generation being built fails, and in a ready one the document does. */
  | { readonly kind: 'model_failed'; readonly error: string }
  | { readonly kind: 'again'; readonly inMs: number }

/** Takes documents of one environment that wait for their vectors, the longest due first; each is the caller's for `leaseMs`. */
export async function takeDueDocuments(
  tx: Queries,
  scope: Scope,
  { leaseMs, atMost, tries }: { readonly leaseMs: number; readonly atMost: number; readonly tries: number },
): Promise<DueDocument[]> {
  const { rows } = await sql<Omit<DueDocument, 'scope'>>`
    with due as (
      select e.tenant_id, e.generation_id, e.document_id from parley.knowledge_embeddings e
      join parley.knowledge_generations g using (tenant_id, generation_id)
      where e.tenant_id = ${scope.tenant_id}::uuid and e.state = 'pending' and g.state <> 'failed'
        and e.next_at <= statement_timestamp()
        and (e.lease_until is null or e.lease_until <= clock_timestamp())
      order by e.next_at limit ${atMost}::integer
      for no key update of e skip locked
    ), taken as (
      update parley.knowledge_embeddings e
      set attempts = e.attempts + 1, lease_until = parley.now_ms() + ${leaseMs}::integer * interval '1 ms',
        state = case when e.attempts >= ${tries}::integer then 'failed' else 'pending' end,
        error = case when e.attempts >= ${tries}::integer then 'the process that read the document ended repeatedly' end
      from due
      where e.tenant_id = due.tenant_id and e.generation_id = due.generation_id and e.document_id = due.document_id
      returning e.*
    )
    select t.document_id, t.generation_id, t.attempts, g.model, d.title, d.media_type, d.chunk_count
    from taken t
    join parley.knowledge_generations g using (tenant_id, generation_id)
    join parley.knowledge_documents d on d.tenant_id = t.tenant_id and d.document_id = t.document_id
    where t.state = 'pending'`.execute(tx)
  if (rows.length < atMost) await finishGenerations(tx, scope)
  return rows.map(row => ({ ...row, scope }))
}

/** In how many ms the environment's next document is due that no process has, 0 if it is overdue; null: there is none. */
export async function nextDocumentDueInMs(tx: Queries, scope: Scope): Promise<number | null> {
  const { rows } = await sql<{ in_ms: number }>`
    select greatest(0, ceil(extract(epoch from e.next_at - clock_timestamp()) * 1000))::integer as in_ms
    from parley.knowledge_embeddings e
    where e.tenant_id = ${scope.tenant_id}::uuid and e.state = 'pending'
      and (e.lease_until is null or e.lease_until <= clock_timestamp())
    order by e.next_at limit 1`.execute(tx)
  return rows[0]?.in_ms ?? null
}

/** The content of a document; null: it was deleted. */
export async function documentContent(db: Queries, scope: Scope, documentId: string): Promise<Buffer | null> {
  const { rows } = await sql<{ content: Buffer }>`
    select content from parley.knowledge_contents
    where tenant_id = ${scope.tenant_id} and document_id = ${documentId}::uuid`.execute(db)
  return rows[0]?.content ?? null
}

/** Stores the chunks of a document and their words, unless another process has stored them or the document was deleted. */
export async function storeChunks(
  tx: Queries,
  scope: Scope,
  documentId: string,
  chunks: readonly Chunk[],
): Promise<void> {
  const { numAffectedRows } = await sql`
    update parley.knowledge_documents set chunk_count = ${chunks.length}::integer
    where tenant_id = ${scope.tenant_id} and document_id = ${documentId}::uuid and chunk_count is null`.execute(tx)
  if (numAffectedRows !== 1n) return
  await sql`
    insert into parley.knowledge_chunks (tenant_id, document_id, chunk_index, text, words)
    select s.tenant_id, ${documentId}::uuid, c.position - 1, c.text, array_to_tsvector(array(
      select s.number || ':' || w.lexeme
      from unnest(tsvector_to_array(to_tsvector(c.language::regconfig, c.text))) as w (lexeme)
    ))
    from unnest(${chunks.map(chunk => chunk.text)}::text[], ${chunks.map(chunk => chunk.language)}::text[])
      with ordinality as c (text, language, position)
    cross join parley.knowledge_settings s where s.tenant_id = ${scope.tenant_id}`.execute(tx)
  await countLexemes(tx, scope, documentId, 1)
}

/** The texts of a document's chunks, in their order. */
export async function chunkTexts(db: Queries, scope: Scope, documentId: string): Promise<string[]> {
  const { rows } = await sql<{ text: string }>`
    select text from parley.knowledge_chunks
    where tenant_id = ${scope.tenant_id} and document_id = ${documentId}::uuid order by chunk_index`.execute(db)
  return rows.map(({ text }) => text)
}

/** Settles a try. `lost`: another process has the document by now, or it was deleted, and nothing was written. */
export async function settleEmbedding(
  tx: Queries,
  due: DueDocument,
  result: EmbeddingResult,
): Promise<'settled' | 'lost'> {
  const { scope, generation_id, document_id } = due
  // The generation is locked first, here and where a document is deleted: `joined` rises in the order of the commits.
  const { rows } = await sql<{ state: string; dimension: number | null }>`
    select state, dimension from parley.knowledge_generations
    where tenant_id = ${scope.tenant_id} and generation_id = ${generation_id}::uuid for update`.execute(tx)
  const [generation] = rows
  if (generation === undefined || generation.state === 'failed') return 'lost'
  const settled = settledRow(result, generation)
  const { rows: written } = await sql<{ has_table: boolean }>`
    update parley.knowledge_embeddings set lease_until = null, state = ${settled.state}, error = ${settled.error},
      vectors = ${settled.vectors}::bytea,
      joined = case when ${settled.state} = 'embedded' then (
        select g.joined + 1 from parley.knowledge_generations g
        where g.tenant_id = ${scope.tenant_id} and g.generation_id = ${generation_id}::uuid
      ) end,
      next_at = parley.now_ms() + ${settled.inMs}::double precision * interval '1 ms'
    where tenant_id = ${scope.tenant_id} and generation_id = ${generation_id}::uuid
      and document_id = ${document_id}::uuid and state = 'pending' and attempts = ${due.attempts}::integer
      and lease_until > clock_timestamp()
    returning to_regclass('parley.knowledge_vectors') is not null as has_table`.execute(tx)
  const [row] = written
  if (row === undefined) return 'lost'
  if (
    row.has_table &&
    settled.dimension !== null &&
    settled.dimension <= MAX_TABLE_DIMENSION &&
    result.kind === 'embedded'
  )
    await storeVectors(tx, scope, due, result.vectors)
  if (settled.state === 'embedded')
    await sql`
      update parley.knowledge_generations
      set joined = joined + 1, dimension = coalesce(dimension, ${settled.dimension}::integer)
      where tenant_id = ${scope.tenant_id} and generation_id = ${generation_id}::uuid`.execute(tx)
  if (result.kind === 'document_failed')
    await sql`
      update parley.knowledge_documents set error = ${result.error}
      where tenant_id = ${scope.tenant_id} and document_id = ${document_id}::uuid and chunk_count is null`.execute(tx)
  if (result.kind === 'model_failed') await failGeneration(tx, scope, generation_id, result.error)
  if (settled.state !== 'pending') await finishGenerations(tx, scope)
  return 'settled'
}

interface SettledRow {
  readonly state: 'pending' | 'embedded' | 'failed'
  readonly error: string | null
  readonly vectors: Buffer | null
  readonly dimension: number | null
  readonly inMs: number
}

function settledRow(result: EmbeddingResult, generation: { readonly dimension: number | null }): SettledRow {
  const none = { vectors: null, dimension: null, inMs: 0 }
  switch (result.kind) {
    case 'embedded': {
      const dimension = result.vectors[0]?.length ?? null
      const fits =
        generation.dimension === null || result.vectors.every(vector => vector.length === generation.dimension)
      if (!fits)
        return {
          ...none,
          state: 'failed',
          error: `the model returned vectors of length ${dimension} instead of ${generation.dimension}; re-embed`,
        }
      return { state: 'embedded', error: null, vectors: packed(result.vectors), dimension, inMs: 0 }
    }
    case 'again':
      return { ...none, state: 'pending', error: null, inMs: result.inMs }
    default:
      return { ...none, state: 'failed', error: result.error }
  }
}

/** Little-endian floats, one vector after the other. */
function packed(vectors: readonly Float32Array[]): Buffer {
  return Buffer.concat(vectors.map(vector => Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength)))
}
