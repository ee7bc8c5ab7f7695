import { sql } from 'kysely'

/** One instant for a whole statement, in milliseconds: what it makes has not been updated since. */
export const statementTime = sql<string>`date_trunc('milliseconds', statement_timestamp())`
