import type { LookupFunction } from 'node:net'
import type { Time } from '@parley/kernel'
import { Pool } from 'undici'
import { ProviderError, type ProviderFailure } from '../errors.ts'
import type { ModelAnswer } from '../model-service/model-answer.ts'
import { AnswerStream, type ModelBudgets } from './answer-stream.ts'
import { checkedConnector } from './checked-connector.ts'
import type { HttpExchange } from './http-exchange.ts'
import { openAhead } from './open-ahead.ts'

interface ModelServiceOptions {
  /** The model in error texts: "openai/gpt-4o-mini". */
  readonly id: string
  readonly baseUrl: string
  /** Appended to the path of the base URL: "/chat/completions". */
  readonly path: string
  /** Null when the service needs no key; empty when the key is missing and requests fail. */
  readonly apiKey: string | null
  /** The header that carries the key. */
  readonly authorization: (apiKey: string) => Readonly<Record<string, string>>
  /** Further headers of every request. */
  readonly headers?: Readonly<Record<string, string>>
  /** Resolves the host of the base URL, and is asked for a literal address too. Default: the system's resolver. */
  readonly lookup?: LookupFunction
  readonly time: Time
  readonly budgets?: Partial<ModelBudgets>
}

const BUDGETS: ModelBudgets = { connectMs: 5000, firstEventMs: 10_000, idleMs: 10_000, wholeMs: 60_000 }
const MAX_CONNECTIONS = 256
const KEEP_ALIVE_MS = 30_000

/** A model service over HTTP: requests are POSTs of JSON over at most 256 reused connections. */
export class ModelService {
  readonly #options: ModelServiceOptions
  readonly #budgets: ModelBudgets
  readonly #host: string
  readonly #path: string
  readonly #pool: Pool
  readonly #underWay = new Set<{ abort(error: Error): void }>()
  /** A connection may be reused, and may break when it is. */
  #hasAnswered = false
  #closed = false

  /** Throws `ProviderError` "model_misconfigured" for a URL or a key that cannot be used. */
  constructor(options: ModelServiceOptions) {
    const url = checkedUrl(options.baseUrl)
    if (options.apiKey !== null && !/^[\x21-\x7e]*$/.test(options.apiKey))
      throw new ProviderError('model_misconfigured', 'The key has characters that no header can carry.')
    this.#options = options
    this.#budgets = { ...BUDGETS, ...options.budgets }
    this.#host = url.host
    this.#path = `${url.pathname.replace(/\/+$/, '')}${options.path}${url.search}`
    this.#pool = new Pool(url.origin, {
      connections: MAX_CONNECTIONS,
      pipelining: 1,
      allowH2: false,
      connect:
        options.lookup === undefined
          ? { timeout: this.#budgets.connectMs }
          : checkedConnector(this.#budgets.connectMs, options.lookup),
      keepAliveTimeout: KEEP_ALIVE_MS,
      // ModelBudgets replaces these timeouts.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
  }

  /** Why requests fail ("closed", "no key for …"), or null. */
  get obstacle(): string | null {
    if (this.#closed) return 'closed'
    return this.#options.apiKey === '' ? `no key for ${this.#options.id}` : null
  }

  /** The events of one answer. Ends at once, without an error, when `signal` aborts. Throws the errors of the model ports. */
  async *ask<Event>(body: object, answer: ModelAnswer<Event>, signal: AbortSignal): AsyncGenerator<Event> {
    if (signal.aborted) return
    if (this.#closed) throw this.#closedError()
    if (this.obstacle !== null) throw new ProviderError('model_refused', `There is ${this.obstacle}.`)
    const answering = this.#answering(JSON.stringify(body), answer)
    this.#underWay.add(answering)
    const abort = () => answering.abort(new Error('aborted'))
    signal.addEventListener('abort', abort, { once: true })
    try {
      for await (const event of answering.events()) {
        if (signal.aborted) break
        this.#hasAnswered = true
        yield event
      }
    } catch (error) {
      if (!signal.aborted) throw error
    } finally {
      signal.removeEventListener('abort', abort)
      answering.release()
      this.#underWay.delete(answering)
    }
    if (signal.aborted) yield* answer.abandoned()
  }

  /** Opens a connection in advance, unless one is idle: the next request waits for neither name, connection nor TLS. */
  async warm(): Promise<void> {
    if (this.obstacle !== null) return
    this.#hasAnswered = true
    await openAhead(this.#pool, this.#budgets.connectMs)
  }

  /** Closes the connections; answers in progress fail with "model_failed". */
  async close(): Promise<void> {
    this.#closed = true
    for (const answering of this.#underWay) answering.abort(this.#closedError())
    await this.#pool.destroy()
  }

  #answering<Event>(body: string, answer: ModelAnswer<Event>): AnswerStream<Event> {
    const { apiKey, authorization, time } = this.#options
    const headers = {
      'content-type': 'application/json',
      accept: 'text/event-stream, application/json',
      ...(apiKey !== null && authorization(apiKey)),
      ...this.#options.headers,
    }
    const dispatch = (exchange: HttpExchange) => {
      this.#pool.dispatch({ path: this.#path, method: 'POST', headers, body }, exchange)
    }
    const mayBeStale = this.#hasAnswered
    return new AnswerStream({ answer, time, budgets: this.#budgets, host: this.#host, dispatch, mayBeStale })
  }

  #closedError(): ProviderFailure {
    return new ProviderError('model_failed', `${this.#options.id} was closed.`, { retryable: false })
  }
}

function checkedUrl(baseUrl: string): URL {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '')
    throw new ProviderError('model_misconfigured', 'The base URL is no http(s) URL, or has a user name in it.')
  return url
}
