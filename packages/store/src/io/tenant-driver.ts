import {
  type DatabaseConnection,
  type Driver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from 'kysely'
import type { Schema } from '../schema.ts'

const adapter = new PostgresAdapter()
const compiler = new PostgresQueryCompiler()

/** Kysely on one connection that somebody else borrows, begins and commits. */
class BorrowedDriver implements Driver {
  readonly #connection: DatabaseConnection

  constructor(connection: DatabaseConnection) {
    this.#connection = connection
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    return this.#connection
  }

  beginTransaction(): Promise<void> {
    return Promise.reject(new TypeError('a transaction is begun by Database.transaction'))
  }

  commitTransaction(): Promise<void> {
    return this.beginTransaction()
  }

  rollbackTransaction(): Promise<void> {
    return this.beginTransaction()
  }

  async releaseConnection(): Promise<void> {}

  async destroy(): Promise<void> {}
}

/** Typed queries that go to this connection, whose session looks for tables by {@link SESSION}. */
export function queriesOn(connection: DatabaseConnection): Kysely<Schema> {
  return new Kysely<Schema>({
    dialect: {
      createAdapter: () => adapter,
      createDriver: () => new BorrowedDriver(connection),
      createIntrospector: db => new PostgresIntrospector(db),
      createQueryCompiler: () => compiler,
    },
  })
}

/**
 * What every session of ours starts with. Tables are found by the session's path: naming the schema in each query would
 * clone the query each time. Temporary tables, which are looked for first otherwise, come last.
 */
export const SESSION = '-c TimeZone=UTC -c DateStyle=ISO -c search_path=parley,pg_temp'
