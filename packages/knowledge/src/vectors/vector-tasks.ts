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
}

/** Where a vector is: the document and the number of the chunk in it. */
export interface VectorPlace {
  readonly document_id: string
  readonly chunk_index: number
}

/** Chunks whose score is needed whether or not they are among the best. */
type Places = readonly VectorPlace[]

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
  | { readonly type: 'rate'; readonly generation: string; readonly query: Float32Array; readonly places: Places }
  /** Searches vectors that do not fit into the memory, and rates those of the places, a part at a time. */
  | ({ readonly type: 'scan'; readonly loaded: readonly VectorDocument[]; readonly places: Places } & VectorQuery)

export type VectorOutcome =
  | { readonly type: 'done' }
  /** Hits of a search, and scores of places in their order; null: the vector is not there. */
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
        return index === undefined ? { type: 'missing' } : found(index, task, [])
      }
      case 'rate': {
        const index = this.#used(task.generation)
        if (index === undefined) return { type: 'missing' }
        return { type: 'found', hits: [], scores: scoresOf(index, task.query, task.places) }
      }
      case 'scan': {
        const index = new VectorIndex(task.query.length)
        for (const { document_id, vectors } of task.loaded) index.add(document_id, vectors)
        return found(index, task, task.places)
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

function found(index: VectorIndex, { query, atMost, documents }: VectorQuery, places: Places): VectorOutcome {
  const isOfIndex = query.length === index.dimension
  return {
    type: 'found',
    hits: isOfIndex ? index.search(query, atMost, documents === null ? null : new Set(documents)) : [],
    scores: scoresOf(index, query, places),
  }
}

function scoresOf(index: VectorIndex, query: Float32Array, places: Places): (number | null)[] {
  if (query.length !== index.dimension) return places.map(() => null)
  return places.map(place => index.scoreOf(query, place.document_id, place.chunk_index))
}
