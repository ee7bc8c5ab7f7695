import type { Scope } from '@parley/contract'
import { RecentMap } from '@parley/kernel'
import {
  type ChunkPlace,
  chunksByWords,
  type Database,
  type EmbeddingModel,
  passagesAt,
  searchedGeneration,
} from '@parley/store'
import { KnowledgeError } from '../errors.ts'
import type { Embedders, KnowledgeQuery, KnowledgeResult, KnowledgeSource, Passage } from '../protocol.ts'
import { fusedRanking, type RankedItem } from '../rank-fusion.ts'
import { normalised } from '../vectors/normalised.ts'
import { GenerationVectors } from './generation-vectors.ts'
import { TableVectors } from './table-vectors.ts'

interface KnowledgeSearchOptions {
  readonly database: Pick<Database, 'within'>
  readonly embedders: Embedders
  /** Memory for vectors, in MiB; default 1024. */
  readonly maxVectorMiB?: number
  /** Chunks that pgvector compares one by one; more are found by its index. Default 10 000. */
  readonly exactChunks?: number | undefined
}

/** Best chunks of each ranking that are fused. */
const PER_RANKING = 50
/** Passages read beyond those requested, in place of those whose document was deleted meanwhile. */
const SPARE = 20
/** Vectors of recent queries; partial words of a caller repeat. */
const CACHED_QUERIES = 1000

/** Searches by vector and by words, and fuses the rankings. pgvector compares the vectors where the database has it. */
export class KnowledgeSearch implements KnowledgeSource {
  readonly #options: KnowledgeSearchOptions
  readonly #inMemory: GenerationVectors
  readonly #inTable: TableVectors
  readonly #queries = new RecentMap<string, Float32Array>(CACHED_QUERIES)

  constructor(options: KnowledgeSearchOptions) {
    this.#options = options
    this.#inMemory = new GenerationVectors(options.database, options.maxVectorMiB ?? 1024)
    this.#inTable = new TableVectors(options.database, options.exactChunks ?? 10_000)
  }

  async search(scope: Scope, request: KnowledgeQuery, signal: AbortSignal): Promise<KnowledgeResult> {
    signal.throwIfAborted()
    const { query, topK, minScore, documentIds } = request
    const db = this.#options.database.within(scope)
    const { configured, generation } = await searchedGeneration(db, scope)
    if (!configured)
      throw new KnowledgeError(
        'knowledge_not_configured',
        'no embedding model is chosen: choose one with PUT /knowledge, then POST /knowledge/reembed',
      )
    if (generation === null)
      throw new KnowledgeError(
        'knowledge_no_generation',
        'no generation of documents is ready: POST /knowledge/reembed, and wait until GET /knowledge shows it ready',
      )
    // Words are searched while the query is embedded and the vectors are scanned.
    const words = chunksByWords(db, query, documentIds, PER_RANKING)
    words.catch(() => {})
    const vector = await this.#embedded(scope, generation.model, query, signal)
    signal.throwIfAborted()
    const vectors = generation.in_table ? this.#inTable : this.#inMemory
    const nearest = { query: vector, atMost: PER_RANKING, documents: documentIds }
    const { hits, scores } = await vectors.search(scope, generation, nearest, words)
    const byWords = await words
    signal.throwIfAborted()
    const score = new Map(hits.map(hit => [keyOf(hit), hit.score]))
    for (const [index, place] of byWords.entries()) {
      const known = scores[index] ?? null
      if (known !== null) score.set(keyOf(place), known)
    }
    // A chunk without a vector is not in the generation yet.
    const inGeneration = byWords.filter(place => score.has(keyOf(place)))
    const ranking = fusedRanking([hits.map(ranked), inGeneration.map(ranked)]).filter(
      key => score.get(key)! >= minScore,
    )
    const wanted = ranking.slice(0, topK + SPARE)
    const passages = new Map((await passagesAt(db, scope, wanted.map(placeOf))).map(row => [keyOf(row), row]))
    const items = wanted.flatMap((key): Passage[] => {
      const passage = passages.get(key)
      return passage === undefined ? [] : [{ ...passage, score: clamped(score.get(key)!) }]
    })
    return { generation_id: generation.generation_id, items: items.slice(0, topK) }
  }

  close(): Promise<void> {
    return this.#inMemory.close()
  }

  async #embedded(scope: Scope, model: EmbeddingModel, query: string, signal: AbortSignal): Promise<Float32Array> {
    const embedder = await this.#options.embedders(model, scope)
    if (embedder === null)
      throw new KnowledgeError(
        'knowledge_model_not_ready',
        `the documents are embedded with ${model.provider}/${model.model_id}, which is not ready: see GET /models?kind=embedding`,
      )
    // By environment: each may reach a model of the same name by its own key and server.
    const key = `${scope.tenant_id}\n${embedder.id}\n${query}`
    const known = this.#queries.get(key)
    if (known !== undefined) return known
    try {
      const [vector] = await embedder.embed([query], signal)
      const unit = normalised(vector!)
      this.#queries.set(key, unit)
      return unit
    } catch (cause) {
      signal.throwIfAborted()
      const why = cause instanceof Error ? cause.message : String(cause)
      throw new KnowledgeError('knowledge_embedding_failed', `the query was not embedded: ${why}`, { cause })
    }
  }
}

function keyOf({ document_id, chunk_index }: ChunkPlace): string {
  return `${document_id}/${chunk_index}`
}

function ranked(place: ChunkPlace & { readonly score: number }): RankedItem {
  return { key: keyOf(place), score: place.score }
}

function placeOf(key: string): ChunkPlace {
  const [document_id = '', chunk_index] = key.split('/')
  return { document_id, chunk_index: Number(chunk_index) }
}

function clamped(score: number): number {
  return Math.min(1, Math.max(0, score))
}
