import {
  type DatabaseConnection,
  type Driver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from 'kysely'
import { noteConnection } from '../query-connections.ts'
import type { Schema } from '../schema.ts'

const adapter = new PostgresAdapter()
const compiler = new PostgresQueryCompiler()

/** Kysely on one connection, whose caller borrows it and controls the transaction. */
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

/** Typed queries on this connection, whose session was set up with {@link SESSION}. */
export function queriesOn(connection: DatabaseConnection): Kysely<Schema> {
  const db = new Kysely<Schema>({
    dialect: {
      createAdapter: () => adapter,
      createDriver: () => new BorrowedDriver(connection),
      createIntrospector: db => new PostgresIntrospector(db),
      createQueryCompiler: () => compiler,
    },
  })
  noteConnection(db, connection)
  return db
}

/**
 * Settings of every session. Tables are found by the search path: naming the schema in each query would clone the query each time.
 * Temporary tables, which Postgres otherwise searches first, come last.
 */
export const SESSION = '-c TimeZone=UTC -c DateStyle=ISO -c search_path=parley,pg_temp'
