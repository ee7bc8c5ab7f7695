import { type VectorHit, VectorIndex } from './vector-index.ts'

export interface VectorDocument {
  readonly document_id: string
  readonly vectors: Float32Array
}

export interface VectorQuery {
  readonly query: Float32Array
  readonly atMost: number
  /** Null: all documents. */
  readonly documents: readonly string[] | null
  /** Chunks whose score is needed whether or not they are among the best. */
  readonly places: readonly { readonly document_id: string; readonly chunk_index: number }[]
}

export type VectorTask =
  | {
      readonly type: 'add'
      readonly generation: string
      readonly dimension: number
      readonly documents: readonly VectorDocument[]
    }
  /** Forgets all documents of the generation but these. */
  | { readonly type: 'retain'; readonly generation: string; readonly documents: readonly string[] }
  | ({ readonly type: 'search'; readonly generation: string } & VectorQuery)
  /** Searches vectors that do not fit into the memory, a part at a time. */
  | ({ readonly type: 'scan'; readonly loaded: readonly VectorDocument[] } & VectorQuery)

export type VectorOutcome =
  | { readonly type: 'done' }
  /** Hits, and the scores of the places in their order; null: the vector is not there. */
  | { readonly type: 'found'; readonly hits: readonly VectorHit[]; readonly scores: readonly (number | null)[] }
  /** The generation is not in memory, or not any more. */
  | { readonly type: 'missing' }
  /** The generation alone exceeds the memory, and was dropped. */
  | { readonly type: 'too_large' }

/** Indexes of generations within a bound of memory; the one that was used longest ago makes room. */
export class VectorTasks {
  readonly #maxBytes: number
  /** The least recently used first. */
  readonly #indexes = new Map<string, VectorIndex>()

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  run(task: VectorTask): VectorOutcome {
    switch (task.type) {
      case 'add':
        return this.#add(task)
      case 'retain': {
        const index = this.#indexes.get(task.generation)
        index?.retain(new Set(task.documents))
        if (index === undefined || index.live * 2 >= index.rows) return { type: 'done' }
        // Most of its memory holds documents that left: it is loaded again.
        this.#indexes.delete(task.generation)
        return { type: 'missing' }
      }
      case 'search': {
        const index = this.#used(task.generation)
        return index === undefined ? { type: 'missing' } : found(index, task)
      }
      case 'scan': {
        const index = new VectorIndex(task.query.length)
        for (const { document_id, vectors } of task.loaded) index.add(document_id, vectors)
        return found(index, task)
      }
    }
  }

  #add({ generation, dimension, documents }: Extract<VectorTask, { type: 'add' }>): VectorOutcome {
    const index = this.#used(generation) ?? this.#begun(generation, dimension)
    for (const { document_id, vectors } of documents) index.add(document_id, vectors)
    if (index.bytes > this.#maxBytes) {
      this.#indexes.delete(generation)
      return { type: 'too_large' }
    }
    this.#makeRoom(generation)
    return { type: 'done' }
  }

  #begun(generation: string, dimension: number): VectorIndex {
    const index = new VectorIndex(dimension)
    this.#indexes.set(generation, index)
    return index
  }

  #used(generation: string): VectorIndex | undefined {
    const index = this.#indexes.get(generation)
    if (index === undefined) return undefined
    this.#indexes.delete(generation)
    this.#indexes.set(generation, index)
    return index
  }

  #makeRoom(generation: string): void {
    let bytes = 0
    for (const index of this.#indexes.values()) bytes += index.bytes
    for (const [oldest, index] of this.#indexes) {
      if (bytes <= this.#maxBytes || oldest === generation) return
      this.#indexes.delete(oldest)
      bytes -= index.bytes
    }
  }
}

function found(index: VectorIndex, { query, atMost, documents, places }: VectorQuery): VectorOutcome {
  if (query.length !== index.dimension) return { type: 'found', hits: [], scores: places.map(() => null) }
  return {
    type: 'found',
    hits: index.search(query, atMost, documents === null ? null : new Set(documents)),
    scores: places.map(place => index.scoreOf(query, place.document_id, place.chunk_index)),
  }
}
