import type { Scope } from '@parley/contract'
import { chunksByVector, type Database, type SearchedGeneration } from '@parley/store'
import type { VectorQuery } from '../vectors/vector-tasks.ts'
import type { AwaitedPlaces, VectorMatches } from './generation-vectors.ts'

/** Vectors of generations in a table of pgvector: the database compares them, and this process holds none. */
export class TableVectors {
  readonly #database: Pick<Database, 'within'>
  readonly #exactUpTo: number

  constructor(database: Pick<Database, 'within'>, exactUpTo: number) {
    this.#database = database
    this.#exactUpTo = exactUpTo
  }

  /** Rejects with the errors of the database and of `awaited`. */
  async search(
    scope: Scope,
    { generation_id }: SearchedGeneration,
    query: VectorQuery,
    awaited: AwaitedPlaces,
  ): Promise<VectorMatches> {
    const places = await awaited
    const rated = await chunksByVector(this.#database.within(scope), generation_id, {
      ...query,
      places,
      exactUpTo: this.#exactUpTo,
    })
    const keyOf = (place: { document_id: string; chunk_index: number }) => `${place.document_id}/${place.chunk_index}`
    const scores = new Map(rated.map(chunk => [keyOf(chunk), chunk.score]))
    const nearest = new Map(rated.filter(chunk => chunk.nearest).map(chunk => [keyOf(chunk), chunk]))
    return {
      hits: [...nearest.values()].sort((one, other) => other.score - one.score).slice(0, query.atMost),
      scores: places.map(place => scores.get(keyOf(place)) ?? null),
    }
  }
}
