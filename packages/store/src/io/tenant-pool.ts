import type { CompiledQuery, QueryResult } from 'kysely'
import pg, { type PoolClient } from 'pg'
import { failureOf, isAnswer, isStalePlan, isWorthAnotherTry, outcomeUnknown, unavailable } from './database-failure.ts'
import type { AppLogin } from './owner-connection.ts'
import { APP_ROLE_FACTS, assertAppRole } from './roles.ts'
import {
  inOneWrite,
  isWornOut,
  send,
  sendBegin,
  type TenantContext,
  toResult,
  WholeAnswers,
} from './tenant-connection.ts'
import { SESSION } from './tenant-driver.ts'
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
      ...PIPELINED,
      verify: (client, done) => {
        client.query(APP_ROLE_FACTS).then(
          ({ rows }) => {
            try {
              assertAppRole(login, rows[0])
              done()
            } catch (error) {
              done(error as Error)
            }
          },
          error => done(error),
        )
      },
    })
    // A broken idle connection is replaced; on a borrowed one the query rejects.
    this.#pool.on('error', () => {})
    this.#pool.on('connect', client => client.on('error', () => {}))
  }

  /** One statement in a read-only transaction of its own: one round trip. */
  async read<Row>(context: TenantContext, query: CompiledQuery): Promise<QueryResult<Row>> {
    const client = await this.#borrow()
    const round = inOneWrite(client, () => [
      ...sendBegin(client, 'read only', context),
      send(client, query),
      client.query('commit'),
    ])
    const answers = await Promise.allSettled(round)
    const failed = answers.find(answer => answer.status === 'rejected')
    giveBack(client, failed?.reason)
    if (failed === undefined) {
      const answer = answers[2] as PromiseFulfilledResult<pg.QueryResult>
      return toResult(answer.value)
    }
    if (isStalePlan(failed.reason)) return this.read(context, query)
    throw failureOf(failed.reason)
  }

  /** A prepared statement outside of any tenant's scope. */
  async bare(name: string, text: string, values: readonly unknown[]): Promise<pg.QueryResult> {
    const client = await this.#borrow()
    try {
      const result = await client.query({ name: `parley_${name}`, text, values: [...values] })
      giveBack(client, undefined)
      return result
    } catch (error) {
      giveBack(client, error)
      throw failureOf(error)
    }
  }

  async transaction<Result>(
    context: TenantContext,
    work: (connection: TransactionConnection) => Promise<Result>,
  ): Promise<Result> {
    for (let attempt = 1; ; attempt++) {
      const transaction = new TransactionConnection(await this.#borrow(), context)
      try {
        const result = await work(transaction)
        await transaction.commit()
        return result
      } catch (error) {
        await transaction.rollback()
        if (attempt < MAX_ATTEMPTS && isWorthAnotherTry(error)) continue
        throw error
      }
    }
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

/** Missing in the type definitions of pg 8. */
const PIPELINED: object = { pipeline: true }

function giveBack(client: PoolClient, failure: unknown): void {
  const isBroken = failure !== undefined && (!isAnswer(failure) || isStalePlan(failure))
  client.release(isBroken || isWornOut(client))
}

/** One transaction; BEGIN travels with its first statement. */
class TransactionConnection extends WholeAnswers {
  readonly #client: PoolClient
  readonly #context: TenantContext
  #state: 'new' | 'open' | 'over' = 'new'
  #failure: unknown
  #isLost = false
  readonly #noteLoss = () => {
    this.#isLost = true
  }

  constructor(client: PoolClient, context: TenantContext) {
    super()
    this.#client = client
    this.#context = context
    client.once('error', this.#noteLoss)
  }

  override async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    if (this.#state === 'over') throw new TypeError('the transaction is over: await every query in it')
    const isFirst = this.#state === 'new'
    this.#state = 'open'
    const round = inOneWrite(this.#client, () => [
      ...(isFirst ? sendBegin(this.#client, 'read write', this.#context) : []),
      send(this.#client, query),
    ])
    const answers = await Promise.allSettled(round)
    const failed = answers.find(answer => answer.status === 'rejected')
    if (failed === undefined) {
      const answer = answers.at(-1) as PromiseFulfilledResult<pg.QueryResult>
      return toResult(answer.value)
    }
    this.#failure ??= failed.reason
    throw failureOf(failed.reason)
  }

  async commit(): Promise<void> {
    if (this.#state === 'new') return this.#end(undefined)
    // `work` ignored a failed statement: COMMIT would roll back without an error.
    if (this.#failure !== undefined) throw failureOf(this.#failure)
    if (this.#isLost) throw unavailable(new Error('the connection was lost before COMMIT was sent'))
    this.#state = 'over'
    try {
      await this.#client.query('commit')
      this.#end(undefined)
    } catch (error) {
      this.#end(error)
      throw isAnswer(error) ? error : outcomeUnknown(error)
    }
  }

  /** Never throws. Does nothing after a COMMIT that was sent. */
  async rollback(): Promise<void> {
    if (this.#state === 'over') return
    const wasNew = this.#state === 'new'
    this.#state = 'over'
    try {
      if (!wasNew) await this.#client.query('rollback')
      this.#end(this.#failure)
    } catch (error) {
      this.#end(error)
    }
  }

  #end(failure: unknown): void {
    this.#state = 'over'
    this.#client.off('error', this.#noteLoss)
    giveBack(this.#client, failure)
  }
}
