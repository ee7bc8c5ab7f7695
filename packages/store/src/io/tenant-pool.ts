import type { Ms } from '@parley/kernel'
import type { CompiledQuery, QueryResult } from 'kysely'
import pg, { type PoolClient } from 'pg'
import { failureOf, isAnswer, isStalePlan, isWorthAnotherTry, unavailable } from './database-failure.ts'
import type { AppLogin } from './owner-connection.ts'
import { APP_ROLE_FACTS, assertAppRole } from './roles.ts'
import { sendBatch } from './statement-batch.ts'
import { isWornOut, readOnlyScopeStatement, statementOf, type TenantContext } from './tenant-connection.ts'
import { SESSION } from './tenant-driver.ts'
import { TransactionConnection } from './transaction-connection.ts'
import { valueParsers } from './value-parsers.ts'

/** Limits of the pool and of its statements. */
export interface PoolLimits {
  /** Connections at once. Default 20. */
  readonly maxConnections?: number
  /** Most ms to wait for a connection before `database_unavailable`. Default 5000. */
  readonly waitMs?: number
  /** Most ms of one statement. Default 15000. */
  readonly statementMs?: number
  /** Most ms that a transaction may be idle. Default 15000. */
  readonly idleInTransactionMs?: number
}

const MAX_ATTEMPTS = 3

/** Connections of the application's role, each borrowed for one read or one transaction of one tenant. */
export class TenantPool {
  readonly #pool: pg.Pool

  constructor(login: AppLogin, limits: PoolLimits) {
    this.#pool = new pg.Pool({
      connectionString: login.url,
      application_name: 'parley',
      max: limits.maxConnections ?? 20,
      connectionTimeoutMillis: limits.waitMs ?? 5000,
      statement_timeout: limits.statementMs ?? 15_000,
      idle_in_transaction_session_timeout: limits.idleInTransactionMs ?? 15_000,
      idleTimeoutMillis: 60_000,
      keepAlive: true,
      options: SESSION,
      types: valueParsers,
      verify: (client, done) => {
        const verified = async () => {
          await client.query(TRANSACTIONS)
          const { rows } = await client.query(APP_ROLE_FACTS)
          assertAppRole(login, rows[0])
        }
        verified().then(() => done(), done)
      },
    })
    // A broken idle connection is replaced; on a borrowed one the query rejects.
    this.#pool.on('error', () => {})
    this.#pool.on('connect', client => client.on('error', () => {}))
  }

  /** One statement in a read-only transaction of its own: one round trip. */
  async read<Row>(context: TenantContext, query: CompiledQuery): Promise<QueryResult<Row>> {
    const client = await this.#borrow()
    const { results, failure } = await sendBatch(client, [readOnlyScopeStatement(context), statementOf(query)])
    giveBack(client, failure)
    if (failure === undefined) return results[1]!
    if (isStalePlan(failure)) return this.read(context, query)
    throw failureOf(failure)
  }

  /** A prepared statement outside of any tenant's scope. */
  async bare(name: string, text: string, values: readonly unknown[]): Promise<{ rows: pg.QueryResult['rows'] }> {
    const client = await this.#borrow()
    const { results, failure } = await sendBatch(client, [{ name: `parley_${name}`, text, values }])
    giveBack(client, failure)
    if (failure !== undefined) throw failureOf(failure)
    return results[0]!
  }

  /** See `Database.transaction`. */
  async transaction<Result>(
    context: TenantContext,
    work: (connection: TransactionConnection) => Promise<Result>,
    lastWrites?: ((connection: TransactionConnection, result: Result) => Promise<unknown>) | 'one-trip',
  ): Promise<Result> {
    for (let attempt = 1; ; attempt++) {
      const client = await this.#borrow()
      const transaction = new TransactionConnection(client, context, failure => giveBack(client, failure))
      try {
        if (lastWrites === 'one-trip') transaction.commitWithNext()
        const result = await work(transaction)
        if (typeof lastWrites === 'function') {
          transaction.commitWithNext()
          await lastWrites(transaction, result)
        }
        await transaction.commit()
        return result
      } catch (error) {
        await transaction.rollback()
        if (attempt < MAX_ATTEMPTS && isWorthAnotherTry(error)) continue
        throw error
      }
    }
  }

  /** Runs `work`, for which a connection may take `ms` instead of `waitMs`. */
  async connectingWithin(ms: Ms, work: () => Promise<void>): Promise<void> {
    const { options } = this.#pool
    const { connectionTimeoutMillis } = options
    options.connectionTimeoutMillis = ms
    await work().finally(() => {
      options.connectionTimeoutMillis = connectionTimeoutMillis
    })
  }

  async close(): Promise<void> {
    if (!this.#pool.ended) await this.#pool.end()
  }

  async #borrow(): Promise<PoolClient> {
    try {
      return await this.#pool.connect()
    } catch (error) {
      throw unavailable(error)
    }
  }
}

/**
 * What a transaction of one round trip is, which has no BEGIN to say so, whatever the database's own defaults are. No option of the
 * connection: its value has a space, which not every server and pooler understands there.
 */
const TRANSACTIONS = 'set session characteristics as transaction isolation level read committed, read write'

function giveBack(client: PoolClient, failure: unknown): void {
  const isBroken = failure !== undefined && (!isAnswer(failure) || isStalePlan(failure))
  client.release(isBroken || isWornOut(client))
}
