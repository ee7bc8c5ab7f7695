import type { Scope } from '@parley/contract'
import { sql } from 'kysely'
import type { Queries } from '../protocol.ts'

/** A chunk by its place. */
export interface ChunkPlace {
  readonly document_id: string
  readonly chunk_index: number
}

/** A chunk with the weight of the words that it has in common with a query. */
interface RatedPlace extends ChunkPlace {
  readonly score: number
}

/** Chunks with words of `query`, the best first. `documentIds` null: of all documents. */
export async function chunksByWords(
  db: Queries,
  query: string,
  documentIds: readonly string[] | null,
  atMost: number,
): Promise<RatedPlace[]> {
  const { rows } = await sql<RatedPlace>`
    select document_id, chunk_index, score
    from parley.search_words(${query}, ${documentIds}::uuid[], ${atMost}::integer)`.execute(db)
  return rows
}

/** Vectors of one document in a generation. */
interface DocumentVectors {
  readonly document_id: string
  /** 32-bit floats, little-endian, one vector per chunk. */
  readonly vectors: Buffer
  /** int8 as text: its place in the order in which documents joined. */
  readonly joined: string
}

/** At most `atMost` documents that joined the generation after `after`, in the order in which they joined. */
export async function vectorsAfter(
  db: Queries,
  scope: Scope,
  generationId: string,
  after: string,
  atMost: number,
): Promise<DocumentVectors[]> {
  const { rows } = await sql<DocumentVectors>`
    select e.document_id, e.vectors, e.joined::text from parley.knowledge_embeddings e
    where e.tenant_id = ${scope.tenant_id} and e.generation_id = ${generationId}::uuid and e.state = 'embedded'
      and e.joined > ${after}::bigint
    -- "joined" alone would be the text of the answer, in which 10 comes before 9.
    order by e.joined limit ${atMost}::integer`.execute(db)
  return rows
}

/** The documents in a generation. */
export async function documentsIn(db: Queries, scope: Scope, generationId: string): Promise<string[]> {
  const { rows } = await sql<{ document_id: string }>`
    select document_id from parley.knowledge_embeddings
    where tenant_id = ${scope.tenant_id} and generation_id = ${generationId}::uuid and state = 'embedded'`.execute(db)
  return rows.map(row => row.document_id)
}

/** A chunk with its text and the title of its document. */
interface PassageRow extends ChunkPlace {
  readonly title: string
  readonly text: string
}

/** The chunks at these places; those of deleted documents are left out. */
export async function passagesAt(db: Queries, scope: Scope, places: readonly ChunkPlace[]): Promise<PassageRow[]> {
  const { rows } = await sql<PassageRow>`
    select c.document_id, c.chunk_index, d.title, c.text
    from unnest(${places.map(place => place.document_id)}::uuid[], ${places.map(place => place.chunk_index)}::integer[])
      as p (document_id, chunk_index)
    join parley.knowledge_chunks c
      on c.tenant_id = ${scope.tenant_id} and c.document_id = p.document_id and c.chunk_index = p.chunk_index
    join parley.knowledge_documents d on d.tenant_id = c.tenant_id and d.document_id = c.document_id`.execute(db)
  return rows
}
