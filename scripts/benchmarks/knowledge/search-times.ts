import type { Scope } from '@parley/contract'
import { KnowledgeSearch } from '@parley/knowledge'
import type { TextEmbedder } from '@parley/providers'
import { quantile } from '../quantile.ts'
import type { KnowledgeBase } from './knowledge-base.ts'

/** Searches before the measurement: the first one loads the vectors. */
const WARM_UP = 20

export interface SearchRow {
  readonly what: 'search'
  readonly passages: number
  readonly searches: number
  /** The first search of the process, which loads all vectors. */
  readonly first_ms: number
  /** From the query to the passages, the request to the embedding model included. */
  readonly p50_ms: number
  readonly p95_ms: number
  readonly p99_ms: number
  /** Of that, the request to the embedding model. */
  readonly embedding_p50_ms: number
  readonly embedding_p95_ms: number
}

const never = new AbortController().signal

/** Times of searches, one after the other; every query is new, so that none comes from the cache of queries. */
export async function measureSearches(
  base: KnowledgeBase,
  scope: Scope,
  embedder: TextEmbedder,
  queries: readonly string[],
): Promise<SearchRow> {
  const embeddingMs: number[] = []
  const timed: TextEmbedder = {
    id: embedder.id,
    dimensions: embedder.dimensions,
    readiness: () => embedder.readiness(),
    close: () => embedder.close(),
    async embed(texts, signal) {
      const begun = performance.now()
      const vectors = await embedder.embed(texts, signal)
      embeddingMs.push(performance.now() - begun)
      return vectors
    },
  }
  const search = new KnowledgeSearch({ database: base.database, embedders: () => timed })
  const one = async (query: string) => {
    const begun = performance.now()
    const { items } = await search.search(scope, { query, topK: 5, minScore: 0, documentIds: null }, never)
    if (items.length === 0) throw new Error(`nothing was found for "${query}"`)
    return performance.now() - begun
  }
  try {
    const firstMs = await one('Which passages are there?')
    for (const query of queries.slice(0, WARM_UP)) await one(query)
    embeddingMs.length = 0
    const searchMs: number[] = []
    for (const query of queries.slice(WARM_UP)) searchMs.push(await one(query))
    const of = (times: readonly number[], share: number) => Number(quantile(times, share).toFixed(1))
    return {
      what: 'search',
      passages: await base.passages(scope),
      searches: searchMs.length,
      first_ms: Math.round(firstMs),
      p50_ms: of(searchMs, 0.5),
      p95_ms: of(searchMs, 0.95),
      p99_ms: of(searchMs, 0.99),
      embedding_p50_ms: of(embeddingMs, 0.5),
      embedding_p95_ms: of(embeddingMs, 0.95),
    }
  } finally {
    await search.close()
  }
}
