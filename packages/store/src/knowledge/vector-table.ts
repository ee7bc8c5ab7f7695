import type { Scope } from '@parley/contract'
import { sql } from 'kysely'
import type { Queries } from '../protocol.ts'
import type { ChunkPlace } from './search.ts'

/** The most components of a vector of pgvector. */
export const MAX_TABLE_DIMENSION = 16_000

/** A chunk with the cosine similarity of its vector and the query's. */
interface RatedChunk extends ChunkPlace {
  readonly score: number
  /** It is among the nearest, and not only one of the places asked for. */
  readonly nearest: boolean
}

interface TableQuery {
  /** Of length 1. */
  readonly query: Float32Array
  readonly atMost: number
  /** With more chunks the nearest come from an index, which may miss some. */
  readonly exactUpTo: number
  /** Null: all documents. */
  readonly documents: readonly string[] | null
  /** Chunks whose score is needed whether or not they are among the nearest. */
  readonly places: readonly ChunkPlace[]
}

/** Rates chunks in the table of vectors: the nearest, and those at the given places that are in the generation. */
export async function chunksByVector(db: Queries, generationId: string, query: TableQuery): Promise<RatedChunk[]> {
  const { rows } = await sql<RatedChunk>`
    select document_id, chunk_index, score, nearest from parley.rated_chunks(
      ${generationId}::uuid, ${textOf(query.query)}, ${query.atMost}::integer, ${query.exactUpTo}::integer,
      ${query.documents}::uuid[], ${query.places.map(place => place.document_id)}::uuid[],
      ${query.places.map(place => place.chunk_index)}::integer[])`.execute(db)
  return rows
}

/** Writes the vectors of a document, in the order of its chunks, to the table of vectors. */
export async function storeVectors(
  tx: Queries,
  scope: Scope,
  { generation_id, document_id }: { readonly generation_id: string; readonly document_id: string },
  vectors: readonly Float32Array[],
): Promise<void> {
  await sql`
    select parley.store_vectors(
      ${scope.tenant_id}::uuid, ${generation_id}::uuid, ${document_id}::uuid, ${vectors.map(textOf)}::text[])`.execute(
    tx,
  )
}

/** Each vector of `floats`, which has them one after the other, as text of pgvector. */
export function vectorTexts(floats: Float32Array, dimension: number): string[] {
  return Array.from({ length: floats.length / dimension }, (_none, index) =>
    textOf(floats.subarray(index * dimension, (index + 1) * dimension)),
  )
}

/** 32-bit little-endian floats: a copy, because the rows of an answer share one buffer. */
export function packedFloats(bytes: Buffer): Float32Array {
  return new Float32Array(new Uint8Array(bytes).buffer)
}

function textOf(vector: Float32Array): string {
  return `[${vector.join(',')}]`
}
