import type { DatabaseConnection } from 'kysely'
import type { Queries } from './protocol.ts'

const connections = new WeakMap<Queries, DatabaseConnection>()

/** Notes the connection that these queries run on. */
export function noteConnection(db: Queries, connection: DatabaseConnection): void {
  connections.set(db, connection)
}

/** The connection of these queries, for a compiled one that needs none of Kysely's steps; undefined: it was not noted. */
export function connectionOf(db: Queries): DatabaseConnection | undefined {
  return connections.get(db)
}
