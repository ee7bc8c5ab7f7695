import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import type { Scope } from '@parley/contract'
import { Client, Pool, type QueryResult } from 'pg'
import { inject } from 'vitest'
import { openDatabase } from '../io/database.ts'
import { migrate } from '../io/migrate.ts'
import { readAddress } from '../io/owner-connection.ts'
import { ensureLogins } from '../io/roles.ts'
import type { PoolLimits } from '../io/tenant-pool.ts'
import type { Database } from '../protocol.ts'
import { TEMPLATE } from './cluster-template.ts'
import { startPglite } from './pglite-server.ts'
import { withDatabase } from './test-server.ts'
import './global-setup.ts'

export interface TestDatabase {
  /** The database as the product opens it: with the application's role, one tenant at a time. */
  readonly database: Database
  /** Queries as superuser, which bypasses row-level security: for set-up and assertions. */
  readonly owner: {
    readonly url: string
    query(text: string, values?: readonly unknown[]): Promise<QueryResult>
  }
  /** A new tenant: production of a new organisation, or the sandbox of `owner_id`'s. */
  scope(of?: { readonly environment?: 'production' | 'sandbox'; readonly owner_id?: string }): Promise<Scope>
  close(): Promise<void>
}

/** Tests may get little of a busy machine: `npm test` gives slow ones a hundredth of it at times. Those of the limits name their own. */
const PATIENT = { waitMs: 60_000, statementMs: 120_000, idleInTransactionMs: 120_000 } as const satisfies PoolLimits

/** An empty, migrated database on a real Postgres that all tests of the run share. Close it when done. Default limits: two minutes at most. */
export async function testDatabase(limits: PoolLimits = {}): Promise<TestDatabase> {
  return testDatabaseOn(await templateUrl(), limits)
}

/** As `testDatabase`, on a server of one's own (`startTestServer`). */
export async function testDatabaseOn(template: string, limits: PoolLimits = {}): Promise<TestDatabase> {
  const name = `t_${randomBytes(8).toString('hex')}`
  const url = withDatabase(template, name)
  await asAdmin(template, async admin => {
    await admin.query(`create database ${name} template ${TEMPLATE}`)
    const address = readAddress(url)
    await ensureLogins(admin, address, [address.logins.all])
  })
  // The data directory may be in memory: free it.
  const release = () => asAdmin(template, admin => admin.query(`drop database if exists ${name} with (force)`))
  return opened(url, { ...PATIENT, ...limits, ownerConnections: 4 }, release)
}

/**
 * A migrated database with the extension pgvector, on a PGlite of its own. About 6 s. `beforeExtension` runs on the migrated database
 * before the extension is created.
 */
export async function testDatabaseWithVectors(
  beforeExtension: (ownerUrl: string) => Promise<void> = async () => {},
): Promise<TestDatabase> {
  const server = await startPglite()
  try {
    await migrate(server.ownerUrl)
    await beforeExtension(server.ownerUrl)
    await runOn(server.ownerUrl, 'create extension vector')
    await migrate(server.ownerUrl)
    return await opened(server.ownerUrl, { ...PATIENT, maxConnections: 1, ownerConnections: 1 }, () => server.stop())
  } catch (error) {
    await server.stop()
    throw error
  }
}

async function opened(
  url: string,
  { ownerConnections, ...limits }: PoolLimits & { readonly ownerConnections: number },
  release: () => Promise<unknown>,
): Promise<TestDatabase> {
  const database = await openDatabase({ ownerUrl: url, ...limits })
  const owners = new Pool({ connectionString: url, max: ownerConnections })
  owners.on('error', () => {})
  const query = (text: string, values: readonly unknown[] = []) => owners.query(text, [...values])
  return {
    database,
    owner: { url, query },
    async scope(of = {}) {
      const environment = of.environment ?? 'production'
      const owner_id =
        of.owner_id ??
        (await query("insert into parley.organisations (name) values ('Test') returning owner_id")).rows[0].owner_id
      const { rows } = await query(
        "insert into parley.tenants (owner_id, environment, name) values ($1, $2, 'Test') returning tenant_id",
        [owner_id, environment],
      )
      return { owner_id, environment, tenant_id: rows[0].tenant_id }
    },
    async close() {
      await database.close()
      await owners.end()
      await release()
    },
  }
}

function runOn(url: string, statement: string): Promise<void> {
  return connected(url, client => client.query(statement))
}

function asAdmin(template: string, work: (admin: Client) => Promise<unknown>): Promise<void> {
  return connected(withDatabase(template, 'postgres'), work)
}

async function connected(url: string, work: (client: Client) => Promise<unknown>): Promise<void> {
  const admin = new Client({ connectionString: url })
  admin.on('error', () => {})
  await admin.connect()
  try {
    await work(admin)
  } finally {
    await admin.end()
  }
}

function templateUrl(): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = ''
    connect(inject('parleyTestPostgres'), '127.0.0.1')
      .setEncoding('utf8')
      .on('data', text => {
        answer += text
      })
      .on('error', reject)
      .on('end', () => {
        if (answer.startsWith('postgres:')) resolve(answer.trim())
        else reject(new Error(`no test database: ${answer.trim()}`))
      })
  })
}
