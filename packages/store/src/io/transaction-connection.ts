import type { CompiledQuery, QueryResult } from 'kysely'
import type { PoolClient } from 'pg'
import { failureOf, isAnswer, outcomeUnknown, unavailable } from './database-failure.ts'
import { type BatchOutcome, type Statement, sendBatch } from './statement-batch.ts'
import {
  BEGIN,
  COMMIT,
  ROLLBACK,
  scopeStatement,
  statementOf,
  type TenantContext,
  WholeAnswers,
} from './tenant-connection.ts'

interface WaitingStatement {
  readonly statement: Statement
  resolve(result: QueryResult<never>): void
  reject(error: unknown): void
}

/**
 * One transaction. Statements that are begun together travel together; BEGIN travels with the first of them, and COMMIT, when
 * `commitWithNext` was called, with the last. Where both would travel with the same statements neither is needed.
 */
export class TransactionConnection extends WholeAnswers {
  readonly #client: PoolClient
  readonly #context: TenantContext
  /** Called once when the connection is free again, with the error of its last statement. */
  readonly #giveBack: (failure: unknown) => void
  #state: 'new' | 'open' | 'over' = 'new'
  #waiting: WaitingStatement[] = []
  #commitsWithNext = false
  #failure: unknown
  #isLost = false
  readonly #noteLoss = () => {
    this.#isLost = true
  }

  constructor(client: PoolClient, context: TenantContext, giveBack: (failure: unknown) => void) {
    super()
    this.#client = client
    this.#context = context
    this.#giveBack = giveBack
    client.once('error', this.#noteLoss)
  }

  override executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    if (this.#state === 'over') return Promise.reject(new TypeError('the transaction is over: await every query in it'))
    return new Promise((resolve, reject) => {
      this.#waiting.push({ statement: statementOf(query), resolve, reject })
      // After the promises that are settled now, whose reactions may add statements.
      if (this.#waiting.length === 1) process.nextTick(() => void this.#sendWaiting())
    })
  }

  /** COMMIT travels with the statements that are begun next, all together. */
  commitWithNext(): void {
    this.#commitsWithNext = true
  }

  /** Commits, unless `commitWithNext` has done so. */
  async commit(): Promise<void> {
    if (this.#state === 'over') return
    if (this.#state === 'new' && this.#waiting.length === 0) return this.#end(undefined)
    this.#commitsWithNext = true
    const failure = await this.#sendWaiting()
    if (failure !== undefined) throw failure
  }

  /** Never throws. Does nothing after a COMMIT that may have been executed. */
  async rollback(): Promise<void> {
    if (this.#state === 'over') return
    const wasNew = this.#state === 'new'
    this.#state = 'over'
    const unsent = this.#waiting
    this.#waiting = []
    for (const { reject } of unsent) reject(new TypeError('the transaction was rolled back: await every query in it'))
    const { failure } = wasNew ? { failure: undefined } : await sendBatch(this.#client, [ROLLBACK])
    this.#end(failure ?? this.#failure)
  }

  /** Sends the waiting statements; resolves to the error of the transaction, if there is one. */
  async #sendWaiting(): Promise<unknown> {
    const waiting = this.#waiting
    this.#waiting = []
    const commits = this.#commitsWithNext
    if (waiting.length === 0 && !commits) return undefined
    const obstacle = commits ? this.#obstacle() : undefined
    if (obstacle !== undefined) {
      for (const { reject } of waiting) reject(obstacle)
      return obstacle
    }
    const begins = this.#state === 'new'
    this.#state = commits ? 'over' : 'open'
    // What begins and ends in one pipeline needs no BEGIN: the statements up to its Sync are one transaction.
    const opening = begins ? [...(commits ? [] : [BEGIN]), scopeStatement(this.#context)] : []
    const outcome = await sendBatch(this.#client, [
      ...opening,
      ...waiting.map(({ statement }) => statement),
      ...(commits && !begins ? [COMMIT] : []),
    ])
    const failure = this.#settle(outcome, commits)
    const results = outcome.results.slice(opening.length)
    for (const [place, { resolve, reject }] of waiting.entries())
      if (place < results.length && (failure === undefined || !commits)) resolve(results[place]!)
      else reject(failure)
    return failure
  }

  /** Why COMMIT must not be sent. */
  #obstacle(): unknown {
    if (this.#state === 'over') return new TypeError('the transaction is over: await every query in it')
    // A failed statement was ignored: COMMIT would roll back without an error.
    if (this.#failure !== undefined) return failureOf(this.#failure)
    return this.#isLost ? unavailable(new Error('the connection was lost before COMMIT was sent')) : undefined
  }

  #settle({ failure }: BatchOutcome, commits: boolean): unknown {
    if (failure === undefined) {
      if (commits) this.#end(undefined)
      return undefined
    }
    this.#failure ??= failure
    if (!commits) return failureOf(failure)
    // After an error of Postgres, COMMIT was not executed, or has rolled back.
    if (isAnswer(failure)) {
      this.#state = 'open'
      return failureOf(failure)
    }
    this.#end(failure)
    return outcomeUnknown(failure)
  }

  #end(failure: unknown): void {
    this.#state = 'over'
    this.#client.off('error', this.#noteLoss)
    this.#giveBack(failure)
  }
}
