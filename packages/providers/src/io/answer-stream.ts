import type { Ms, Time, Timer } from '@parley/kernel'
import { ProviderError, type ProviderFailure } from '../errors.ts'
import { AnswerBytes } from '../model-service/answer-bytes.ts'
import type { ModelAnswer } from '../model-service/model-answer.ts'
import { failureOf } from '../model-service/model-failure.ts'
import { HttpExchange, type HttpPiece } from './http-exchange.ts'

/** How long each stage of an answer may take. */
export interface ModelBudgets {
  /** From the request to a connection. Default 5000. */
  readonly connectMs: Ms
  /** From the request to the first event of the answer; comments and pings do not count. Default 10 000. */
  readonly firstEventMs: Ms
  /** From one event to the next. Default 10 000. */
  readonly idleMs: Ms
  /** For the whole answer. Default 60 000. */
  readonly wholeMs: Ms
}

interface AnswerStreamOptions<Event> {
  readonly answer: ModelAnswer<Event>
  readonly time: Time
  readonly budgets: ModelBudgets
  /** The service's host and port, for error texts. */
  readonly host: string
  /** Sends the request. */
  readonly dispatch: (exchange: HttpExchange) => void
  /** The request may reuse a connection that the service has closed without notice. */
  readonly mayBeStale: boolean
}

/** Time for the usage and the end of the stream after the model has finished; a stream read to its end keeps its connection. */
const TAIL_MS: Ms = 1000
const MAX_ERROR_BYTES = 65_536
/** Time to read the body of an error answer, whose status is already known. */
const ERROR_BODY_MS: Ms = 500
/** A reused connection that the service had closed breaks within this time. */
const STALE_MS: Ms = 1000
const ABORTED = new Error('aborted')

/** One answer of a service, from the request to its last event, within its budgets. */
export class AnswerStream<Event> {
  readonly #options: AnswerStreamOptions<Event>
  readonly #wholeBy: Ms
  #exchange: HttpExchange
  #stageBy: Ms
  /** Time at which the request was written to a connection; null before. */
  #sentAt: Ms | null = null
  #timer: Timer | null = null
  /** Also runs when no consumer reads the events, so that no connection stays open. */
  readonly #wholeTimer: Timer
  #end: ProviderFailure | Error | null = null
  /** All events were read; only the end of the stream is missing. */
  #isDone = false

  constructor(options: AnswerStreamOptions<Event>) {
    this.#options = options
    const now = options.time.now()
    this.#wholeBy = now + options.budgets.wholeMs
    this.#stageBy = now + options.budgets.connectMs
    this.#exchange = this.#newExchange()
    this.#wholeTimer = options.time.at(this.#wholeBy, () => this.#exchange.abort(this.#late()))
  }

  /** The events of the answer. Throws the `ProviderError`s of the language-model port. */
  async *events(): AsyncGenerator<Event> {
    const head = await this.#head()
    if (head.status < 200 || head.status > 299)
      throw failureOf(head.status, await this.#errorBody(), head.headers['retry-after'])
    const bytes = new AnswerBytes(this.#options.answer)
    let progress = 0
    while (!bytes.answer.isComplete) {
      const piece = await this.#next().catch((error: unknown) => this.#pieceOfBroken(error, bytes))
      yield* piece.type === 'bytes' ? bytes.push(piece.bytes) : piece.type === 'end' ? bytes.end() : []
      if (piece.type === 'end') break
      if (bytes.progress > progress) this.#stageBy = this.#now + this.#limitAfterEvent(bytes)
      progress = bytes.progress
    }
    this.#isDone = true
    yield* bytes.answer.end()
  }

  /** Fails a running answer with `error` and closes its connection. */
  abort(error: Error): void {
    this.#end ??= error
    this.#exchange.abort(error)
  }

  /** Ends the consumption. A stream without its end is read to it, so that the connection can be reused; others are aborted. */
  release(): void {
    this.#wholeTimer.cancel()
    if (!this.#isDone) this.abort(ABORTED)
    else void this.#drain()
  }

  get #now(): Ms {
    return this.#options.time.now()
  }

  #newExchange(): HttpExchange {
    return new HttpExchange(() => {
      this.#sentAt = this.#now
      this.#stageBy = this.#now + this.#options.budgets.firstEventMs
      this.#rearm()
    })
  }

  /** The head of the answer. A request that fails on a stale connection is sent again once, on another. */
  async #head(): Promise<Extract<HttpPiece, { type: 'head' }>> {
    for (let again = this.#options.mayBeStale; ; again = false) {
      this.#send()
      try {
        const piece = await this.#next()
        if (piece.type === 'head') return piece
        throw new ProviderError('model_unreachable', 'The service closed the connection without an answer.')
      } catch (error) {
        const sentAt = this.#sentAt
        const stale = again && sentAt !== null && this.#now - sentAt < STALE_MS && this.#end === null
        if (!stale || ProviderError.is(error)) throw this.#failure(error)
        this.#sentAt = null
        this.#stageBy = this.#now + this.#options.budgets.connectMs
        this.#exchange = this.#newExchange()
      }
    }
  }

  #send(): void {
    if (this.#end !== null) return this.#exchange.abort(this.#end)
    try {
      this.#options.dispatch(this.#exchange)
    } catch (error) {
      this.#exchange.abort(error instanceof Error ? error : ABORTED)
    }
  }

  /** The next piece of the answer, within the budget of its stage. */
  async #next(): Promise<HttpPiece> {
    this.#rearm()
    try {
      return await this.#exchange.next()
    } finally {
      this.#timer?.cancel()
      this.#timer = null
    }
  }

  #rearm(): void {
    this.#timer?.cancel()
    this.#timer = this.#options.time.at(this.#stageBy, () => this.#exchange.abort(this.#late()))
  }

  #late(): ProviderFailure {
    const { host } = this.#options
    if (this.#now >= this.#wholeBy)
      return new ProviderError('model_failed', `The model at ${host} did not finish its answer in time.`, {
        retryable: false,
      })
    const what = this.#sentAt === null ? 'could not be reached' : 'did not answer'
    return new ProviderError('model_unreachable', `The model's service at ${host} ${what} in time.`)
  }

  #limitAfterEvent(bytes: AnswerBytes<Event>): Ms {
    return bytes.answer.isFinished ? TAIL_MS : this.#options.budgets.idleMs
  }

  /** A finished answer ends normally, however its connection ended. */
  #pieceOfBroken(error: unknown, bytes: AnswerBytes<Event>): HttpPiece {
    if (bytes.answer.isFinished && this.#end === null) return { type: 'end' }
    throw this.#failure(error)
  }

  #failure(error: unknown): unknown {
    if (this.#end !== null) return this.#end
    return ProviderError.is(error) ? error : unreachable(this.#options.host, error)
  }

  /** The part of the body that arrived before its time limit or the loss of the connection. */
  async #errorBody(): Promise<string> {
    this.#stageBy = Math.min(this.#stageBy, this.#now + ERROR_BODY_MS)
    const chunks: Uint8Array[] = []
    let length = 0
    try {
      for (
        let piece = await this.#next();
        piece.type === 'bytes' && length < MAX_ERROR_BYTES;
        piece = await this.#next()
      ) {
        chunks.push(piece.bytes)
        length += piece.bytes.length
      }
    } catch (error) {
      if (this.#end !== null) throw error
    }
    return Buffer.concat(chunks).toString('utf8')
  }

  async #drain(): Promise<void> {
    this.#stageBy = this.#now + TAIL_MS
    try {
      for (let piece = await this.#next(); piece.type !== 'end'; piece = await this.#next());
    } catch {
      // The connection is closed instead of reused.
    }
  }
}

/** The error for a failed connection. It contains only the error code, because the text may contain the request. */
function unreachable(host: string, error: unknown): ProviderFailure {
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'broken off'
  const isForgery = /CERT|SELF_SIGNED|ERR_TLS/.test(code)
  const message = `The connection to the model's service at ${host} failed (${code}).`
  return new ProviderError('model_unreachable', message, { retryable: !isForgery })
}
