import type { Scope } from '@parley/contract'
import type { TextEmbedder } from '@parley/providers'
import type { EmbeddingModel } from '@parley/store'

/** One request to a search. */
export interface KnowledgeQuery {
  readonly query: string
  readonly topK: number
  /** Passages with a lower score are left out. */
  readonly minScore: number
  /** Null: all documents of the environment. */
  readonly documentIds: readonly string[] | null
}

/** A passage of a document. */
export interface Passage {
  readonly document_id: string
  readonly title: string
  /** Position in its document, from 0. */
  readonly chunk_index: number
  readonly text: string
  /** Cosine similarity of query and passage, 0 to 1. */
  readonly score: number
}

export interface KnowledgeResult {
  readonly generation_id: string
  /** The most relevant first. */
  readonly items: readonly Passage[]
}

/** Searches the documents of environments. */
export interface KnowledgeSource {
  /**
   * Rejects with the reason of `signal` when it aborts, otherwise with `KnowledgeError` and the errors of the database.
   */
  search(scope: Scope, query: KnowledgeQuery, signal: AbortSignal): Promise<KnowledgeResult>
}

/** The embedder of a model; null: the platform does not have the model, or its key is missing. */
export type Embedders = (model: EmbeddingModel, scope: Scope) => TextEmbedder | null | Promise<TextEmbedder | null>
