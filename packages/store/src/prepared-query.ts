import type { CompiledQuery, QueryResult } from 'kysely'
import type { Queries } from './protocol.ts'
import { connectionOf } from './query-connections.ts'

/**
 * A query whose SQL text does not depend on its parameters: it is built and compiled once, because building a query of a few joins
 * costs the API more than sending it, and goes to its connection without Kysely's own steps, which cost as much as the rest of sending.
 */
export class PreparedQuery<Given extends object, Row> {
  readonly #build: (db: Queries, given: Given) => { compile(db: Queries): CompiledQuery<Row> }
  #prepared: { readonly query: CompiledQuery<Row>; readonly places: readonly (keyof Given | null)[] } | null = null

  /** `build` receives a placeholder for each parameter and may use it only as a value in the query. */
  constructor(build: (db: Queries, given: Given) => { compile(db: Queries): CompiledQuery<Row> }) {
    this.#build = build
  }

  async rows(db: Queries, given: Given): Promise<Row[]> {
    return (await this.execute(db, given)).rows
  }

  async first(db: Queries, given: Given): Promise<Row | undefined> {
    return (await this.execute(db, given)).rows[0]
  }

  execute(db: Queries, given: Given): Promise<QueryResult<Row>> {
    this.#prepared ??= this.#prepare(db)
    const { query, places } = this.#prepared
    const parameters = places.map((name, place) => (name === null ? query.parameters[place] : given[name]))
    return (connectionOf(db) ?? db).executeQuery<Row>({ ...query, parameters })
  }

  #prepare(db: Queries) {
    const names = new Map<unknown, keyof Given>()
    const marks = new Proxy({} as Given, {
      get(_, name) {
        const mark = Symbol(String(name))
        names.set(mark, name as keyof Given)
        return mark
      },
    })
    const query = this.#build(db, marks).compile(db)
    return { query, places: query.parameters.map(value => names.get(value) ?? null) }
  }
}
