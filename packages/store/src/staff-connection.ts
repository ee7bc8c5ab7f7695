import type { CompiledQuery, QueryResult } from 'kysely'
import { Client } from 'pg'
import { StoreError } from './errors.ts'
import { messageOf, readAddress } from './io/owner-connection.ts'
import { toResult, WholeAnswers } from './io/tenant-connection.ts'
import { queriesOn, SESSION } from './io/tenant-driver.ts'
import { valueParsers } from './io/value-parsers.ts'
import type { Queries } from './protocol.ts'

const CONNECT_WITHIN_MS = 10_000
const STATEMENT_WITHIN_MS = 15_000

/**
 * One transaction across tenants, on the owner's connection, in the role parley_system. When `work` throws, it is rolled back and
 * the error is thrown. Throws `database_unavailable`, or `database_misconfigured` when the database has no tables of Parley yet.
 */
export async function asStaff<Result>(ownerUrl: string, work: (tx: Queries) => Promise<Result>): Promise<Result> {
  const client = new Client({
    connectionString: readAddress(ownerUrl).ownerUrl,
    connectionTimeoutMillis: CONNECT_WITHIN_MS,
    statement_timeout: STATEMENT_WITHIN_MS,
    query_timeout: STATEMENT_WITHIN_MS + 1000,
    application_name: 'parley-admin',
    options: SESSION,
    types: valueParsers,
  })
  // Without a listener, a lost connection would end the process. Pending queries reject anyway.
  client.on('error', () => {})
  try {
    await client.connect().catch(cause => {
      throw new StoreError('database_unavailable', `the owner cannot log in to the database: ${messageOf(cause)}`, {
        cause,
      })
    })
    await begin(client)
    const result = await work(queriesOn(new StaffConnection(client)))
    await client.query('commit')
    return result
  } finally {
    // Closing the connection rolls back.
    await client.end().catch(() => {})
  }
}

async function begin(client: Client): Promise<void> {
  const { rows } = await client.query(
    "select to_regclass('parley.tenants') is not null as made, exists (select from pg_roles where rolname = 'parley_system') as known",
  )
  if (rows[0]?.made !== true || rows[0]?.known !== true)
    throw new StoreError(
      'database_misconfigured',
      'Parley has not been started on this database yet: its tables are missing',
    )
  await client.query('begin')
  await client.query('set local role parley_system')
}

class StaffConnection extends WholeAnswers {
  readonly #client: Client

  constructor(client: Client) {
    super()
    this.#client = client
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    return toResult(await this.#client.query({ text: query.sql, values: [...query.parameters] }))
  }
}
