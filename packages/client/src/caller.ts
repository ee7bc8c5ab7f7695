import { type Failure, ParleyApiError, ParleyConnectionError } from './errors.ts'
import { asEnvelope, readJson } from './http-answer.ts'
import { type AnyRequest, urlOf } from './http-request.ts'
import type { OperationRoute } from './operation-route.ts'
import { readRetryAfter, retryDelay } from './retry.ts'
import { readServerEvents, type ServerEvent } from './server-events.ts'

/** A stream without data for this long is broken: the server sends a comment every 15 s. */
const SILENT_MS = 45_000

/** Options of one request. */
export interface CallOptions {
  /** Aborts the request, also between attempts; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /** Default: that of the client. */
  readonly timeoutMs?: number | undefined
  /** Default: that of the client. */
  readonly retries?: number | undefined
}

interface CallerOptions {
  readonly baseUrl: string
  readonly key: string | null
  readonly fetch: typeof fetch
  readonly timeoutMs: number
  readonly retries: number
  readonly wait: (ms: number, signal: AbortSignal | undefined) => Promise<void>
}

/** Sends requests and retries them if that is safe and can succeed. */
export class Caller {
  readonly #options: CallerOptions

  constructor(options: CallerOptions) {
    this.#options = options
  }

  /** Resolves with the response body. Rejects with `ParleyApiError`, `ParleyConnectionError` or the signal's reason. */
  async call(route: OperationRoute, request: AnyRequest = {}, options: CallOptions = {}): Promise<unknown> {
    const { signal, timeoutMs = this.#options.timeoutMs, retries = this.#options.retries } = options
    const idempotencyKey = route.keyed ? (request.idempotency_key ?? newKey()) : null
    const url = urlOf(this.#options.baseUrl, route, request)
    const init = this.#init(route, request, idempotencyKey)
    for (let attempts = 1; ; attempts++) {
      signal?.throwIfAborted()
      try {
        return await this.#attempt(url, init, { operation: route.id, attempts, idempotencyKey }, timeoutMs, signal)
      } catch (error) {
        signal?.throwIfAborted()
        await this.pause(error, route, attempts, { retries, signal })
      }
    }
  }

  /** Waits before the next attempt; throws `error` if there is none. */
  async pause(
    error: unknown,
    route: OperationRoute,
    attempts: number,
    { retries = this.#options.retries, signal }: Pick<CallOptions, 'retries' | 'signal'>,
  ): Promise<void> {
    const delay = attempts > retries ? null : retryDelay(error, route, attempts, Math.random())
    if (delay === null) throw error
    await this.#options.wait(delay, signal)
  }

  /** One attempt at a stream: its events until the connection ends. Rejects as `call` does. */
  async *events(
    route: OperationRoute,
    request: AnyRequest,
    { last, attempts, signal }: { last: string; attempts: number; signal: AbortSignal | undefined },
  ): AsyncGenerator<ServerEvent> {
    signal?.throwIfAborted()
    const failure: Failure = { operation: route.id, attempts, idempotencyKey: null }
    const url = urlOf(this.#options.baseUrl, route, request)
    const { headers, ...init } = this.#init(route, request, null)
    const ending = new AbortController()
    const abort = () => ending.abort()
    let timer = setTimeout(abort, this.#options.timeoutMs)
    const restartTimer = () => {
      clearTimeout(timer)
      timer = setTimeout(abort, SILENT_MS)
    }
    signal?.addEventListener('abort', abort, { once: true })
    try {
      const response = await this.#options.fetch(url, {
        ...init,
        signal: ending.signal,
        headers: { ...headers, accept: 'text/event-stream', ...(last !== '' && { 'last-event-id': last }) },
      })
      const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
      if (!response.ok || !isStream || response.body === null) await refuse(response, failure)
      else yield* readServerEvents(response.body, restartTimer)
    } catch (error) {
      if (error instanceof ParleyApiError || error instanceof ParleyConnectionError) throw error
      const unanswered = { ...failure, status: null, retryAfterMs: null, cause: error }
      throw new ParleyConnectionError(
        'connection_failed',
        `the stream from ${url} failed: ${causeOf(error)}`,
        unanswered,
      )
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
      abort()
    }
  }

  #init(
    route: OperationRoute,
    request: AnyRequest,
    idempotencyKey: string | null,
  ): RequestInit & { readonly headers: Readonly<Record<string, string>> } {
    const hasBody = route.takesBody && request.body !== undefined
    return {
      method: route.method,
      headers: {
        accept: 'application/json',
        ...(this.#options.key !== null && { authorization: `Bearer ${this.#options.key}` }),
        ...(idempotencyKey !== null && { 'idempotency-key': idempotencyKey }),
        ...(hasBody && { 'content-type': 'application/json' }),
      },
      ...(hasBody && { body: JSON.stringify(request.body) }),
      // A redirect could send the key to another server and turn a POST into a GET.
      redirect: 'manual',
    }
  }

  async #attempt(
    url: string,
    init: RequestInit,
    failure: Failure,
    timeoutMs: number,
    signal: AbortSignal | undefined,
  ): Promise<unknown> {
    const ending = new AbortController()
    const abort = () => ending.abort()
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      abort()
    }, timeoutMs)
    signal?.addEventListener('abort', abort, { once: true })
    try {
      const response = await this.#options.fetch(url, { ...init, signal: ending.signal })
      return await answerOf(response, failure)
    } catch (error) {
      if (error instanceof ParleyApiError || error instanceof ParleyConnectionError) throw error
      const unanswered = { ...failure, status: null, retryAfterMs: null, cause: error }
      if (isLate)
        throw new ParleyConnectionError('timeout', `${url} did not respond within ${timeoutMs} ms`, unanswered)
      throw new ParleyConnectionError(
        'connection_failed',
        `the request to ${url} failed: ${causeOf(error)}`,
        unanswered,
      )
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
    }
  }
}

/** Throws the error for a response that is not an event stream: the API's refusal, or an unexpected response. */
async function refuse(response: Response, failure: Failure): Promise<never> {
  await answerOf(response, failure)
  const unexpected = { ...failure, status: response.status, retryAfterMs: null }
  throw new ParleyConnectionError(
    'unexpected_answer',
    'the response is not an event stream: check that baseUrl is a Parley API without a proxy that changes responses',
    unexpected,
  )
}

async function answerOf(response: Response, failure: Failure): Promise<unknown> {
  const { status } = response
  const retryAfterMs = readRetryAfter(response.headers.get('retry-after'), Date.now())
  if (response.type === 'opaqueredirect' || (status >= 300 && status < 400)) {
    await response.body?.cancel().catch(() => {})
    const target = response.headers.get('location')
    const message = `the server redirects${target === null ? '' : ` to ${target}`}: set baseUrl to the target of the redirect`
    throw new ParleyConnectionError('unexpected_answer', message, { ...failure, status: status || 300, retryAfterMs })
  }
  const body = await readJson(response)
  if (response.ok && body !== undefined) return body
  const envelope = response.ok ? null : asEnvelope(body)
  if (envelope !== null) {
    const requestId = response.headers.get('x-request-id')
    throw new ParleyApiError({ ...failure, envelope, status, requestId, retryAfterMs })
  }
  const message = `the response (HTTP ${status}) is not from a Parley API: check baseUrl and any proxy in between`
  throw new ParleyConnectionError('unexpected_answer', message, { ...failure, status, retryAfterMs })
}

/** 128 random bits in hex; `crypto.randomUUID` is missing on pages served over plain HTTP. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('')
}

/** The message of the error's cause, because `fetch` itself says only "fetch failed". */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error && error.cause.message !== '' ? error.cause.message : error.message
}

/** Resolves after `ms`; rejects with the signal's reason if it is aborted before. */
export function waitBetween(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end)
      resolve()
    }, ms)
    signal?.addEventListener('abort', end, { once: true })
  })
}
