import type { Scope } from '@parley/contract'
import { ParleyError, Semaphore, TaskThread } from '@parley/kernel'
import { type Database, documentsIn, packedFloats, type SearchedGeneration, vectorsAfter } from '@parley/store'
import type { VectorHit } from '../vectors/vector-index.ts'
import type { VectorDocument, VectorOutcome, VectorPlace, VectorQuery, VectorTask } from '../vectors/vector-tasks.ts'

/** Documents that are read from the database at once. */
const PER_PAGE = 200
/** A load or a search that takes longer ends the thread. */
const TIMEOUT_MS = 60_000
const MIB = 1_048_576

interface LoadedGeneration {
  /** What the thread has, as the counters of the generation were then. */
  joined: string
  removed: string
  /** Loading is one search's turn at a time. */
  readonly turn: Semaphore
}

/** Chunks whose score is needed whether or not they are among the best. They may be known only while the vectors are searched. */
export type AwaitedPlaces = Promise<readonly VectorPlace[]>

/** What a query finds in the vectors of a generation. */
export interface VectorMatches {
  readonly hits: readonly VectorHit[]
  /** Of the places, in their order; null: the chunk has no vector. */
  readonly scores: readonly (number | null)[]
}

/**
 * Vectors of generations, in the memory of a worker thread: a scan delays no call of this process. A generation is loaded by its
 * first search, and each search loads the documents that joined since. One that exceeds the memory is read from the database by
 * each of its searches.
 */
export class GenerationVectors {
  readonly #database: Pick<Database, 'within'>
  readonly #maxBytes: number
  readonly #thread: TaskThread<VectorTask, VectorOutcome>
  /** The thread runs one task at a time. */
  readonly #tasks = new Semaphore(1)
  readonly #loaded = new Map<string, LoadedGeneration>()

  constructor(database: Pick<Database, 'within'>, maxMiB: number) {
    this.#database = database
    this.#maxBytes = maxMiB * MIB
    const script = new URL('./vector-thread.ts', import.meta.url)
    this.#thread = new TaskThread({ name: 'vectors', script, timeoutMs: TIMEOUT_MS, heapMiB: 512 })
  }

  /** Rejects with the errors of the database and of `places`, "thread_failed" (retryable) and "thread_closed". */
  async search(
    scope: Scope,
    generation: SearchedGeneration,
    query: VectorQuery,
    places: AwaitedPlaces,
  ): Promise<VectorMatches> {
    const { generation_id: id, dimension } = generation
    if (dimension === null) return { hits: [], scores: (await places).map(() => null) }
    try {
      for (let attempt = 0; attempt < 2; attempt++) {
        const known = this.#known(generation)
        // Searches of one generation wait until one of them has loaded it; those of others go on.
        if (!(await known.turn.run(() => this.#update(scope, generation, dimension, known)))) break
        const searched = await this.#run({ type: 'search', generation: id, ...query })
        const rating = { type: 'rate', generation: id, query: query.query, places: await places } as const
        const rated = searched.type === 'found' ? await this.#run(rating) : searched
        if (searched.type === 'found' && rated.type === 'found') return { hits: searched.hits, scores: rated.scores }
        // Another generation took its memory.
        this.#loaded.delete(id)
      }
      return await this.#scan(scope, generation, query, await places)
    } catch (error) {
      // The next search starts a new thread, whose memory is empty.
      if (error instanceof ParleyError && error.code === 'thread_failed') this.#loaded.clear()
      throw error
    }
  }

  close(): Promise<void> {
    return this.#thread.close()
  }

  #known({ generation_id: id, removed }: SearchedGeneration): LoadedGeneration {
    const known = this.#loaded.get(id) ?? { joined: '0', removed, turn: new Semaphore(1) }
    this.#loaded.set(id, known)
    return known
  }

  /** Loads what changed since the last search. False: the generation exceeds the memory. */
  async #update(
    scope: Scope,
    generation: SearchedGeneration,
    dimension: number,
    known: LoadedGeneration,
  ): Promise<boolean> {
    const { generation_id: id, removed } = generation
    for await (const { loaded, joined } of this.#pages(scope, generation, known.joined)) {
      const outcome = await this.#run({ type: 'add', generation: id, dimension, documents: loaded })
      if (outcome.type === 'too_large') {
        this.#loaded.delete(id)
        return false
      }
      known.joined = joined
    }
    if (known.removed !== removed) {
      const documents = await documentsIn(this.#database.within(scope), scope, id)
      await this.#run({ type: 'retain', generation: id, documents })
      known.removed = removed
    }
    return true
  }

  /** Reads all vectors from the database, keeping the best only. */
  async #scan(
    scope: Scope,
    generation: SearchedGeneration,
    query: VectorQuery,
    places: readonly VectorPlace[],
  ): Promise<VectorMatches> {
    let hits: VectorHit[] = []
    let scores: (number | null)[] = places.map(() => null)
    for await (const { loaded } of this.#pages(scope, generation, '0')) {
      const outcome = await this.#run({ type: 'scan', loaded, places, ...query })
      if (outcome.type !== 'found') continue
      hits = [...hits, ...outcome.hits].sort((one, other) => other.score - one.score).slice(0, query.atMost)
      scores = scores.map((score, index) => score ?? outcome.scores[index] ?? null)
    }
    return { hits, scores }
  }

  async *#pages(
    scope: Scope,
    { generation_id, joined }: SearchedGeneration,
    from: string,
  ): AsyncGenerator<{ readonly loaded: VectorDocument[]; readonly joined: string }> {
    const db = this.#database.within(scope)
    for (let after = from; BigInt(after) < BigInt(joined); ) {
      const rows = await vectorsAfter(db, scope, generation_id, after, PER_PAGE)
      const last = rows.at(-1)
      // What joined last may have left.
      if (last === undefined) return
      after = last.joined
      yield {
        loaded: rows.map(row => ({ document_id: row.document_id, vectors: packedFloats(row.vectors) })),
        joined: after,
      }
    }
  }

  #run(task: VectorTask): Promise<VectorOutcome> {
    return this.#tasks.run(() => this.#thread.run(task, { maxBytes: this.#maxBytes }))
  }
}
