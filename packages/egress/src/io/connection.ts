import type { Socket } from 'node:net'
import { Client, type Dispatcher } from 'undici'
import type { Message } from '../redirect.ts'
import { CappedBytes } from './capped-bytes.ts'
import type { Lifetime } from './lifetime.ts'

/** The outcome of one message on one connection. */
export type Exchange =
  | {
      readonly type: 'answered'
      readonly status: number
      readonly headers: Readonly<Record<string, string>>
      readonly body: Uint8Array
      readonly truncated: boolean
    }
  /** No byte of the message was sent. */
  | { readonly type: 'unsent'; readonly reason: string }
  | { readonly type: 'lost'; readonly reason: string }

const MAX_HEADER_BYTES = 32_768
/** Upper limit for undici; `Connections` closes idle connections much earlier, and servers may announce less. */
const MAX_IDLE_MS = 600_000

/** HTTP/1.1 on one socket that was connected and checked before. It never reconnects. */
export class Connection {
  readonly #client: Client
  readonly #socket: Socket
  #isUsable = true

  constructor(origin: string, socket: Socket, onGone: () => void) {
    this.#socket = socket
    let handedOver = false
    this.#client = new Client(origin, {
      // undici looks at its queue only after its own call to `connect` has returned.
      connect: (_, callback) =>
        queueMicrotask(() => {
          if (handedOver || socket.destroyed) return callback(new Error('the connection has closed'), null)
          handedOver = true
          callback(null, socket)
        }),
      allowH2: false,
      pipelining: 1,
      // The lifetime of the request limits these.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: MAX_IDLE_MS,
      keepAliveMaxTimeout: MAX_IDLE_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
    })
    socket.once('close', () => {
      this.close()
      onGone()
    })
  }

  /** Whether another message may be sent on it. */
  get isOpen(): boolean {
    return this.#isUsable && !this.#socket.destroyed
  }

  /** Sends the message and reads at most `maxBytes` of the answer's body. Closes the connection unless the answer was complete. */
  async exchange(message: Message, maxBytes: number, lifetime: Lifetime): Promise<Exchange> {
    const reader = new AnswerReader(maxBytes)
    const onEnd = () => reader.fail(lifetime.endedBy ?? 'closed')
    if (lifetime.signal.aborted) onEnd()
    else lifetime.signal.addEventListener('abort', onEnd)
    try {
      if (!reader.isDone) this.#client.dispatch(dispatchOptions(message), reader)
    } catch (error) {
      reader.fail(reasonOf(error))
    }
    const exchange = await reader.exchange
    lifetime.signal.removeEventListener('abort', onEnd)
    if (exchange.type !== 'answered' || exchange.truncated) this.close()
    return exchange
  }

  close(): void {
    if (!this.#isUsable) return
    this.#isUsable = false
    this.#client.destroy(new Error('closed')).catch(() => {})
    this.#socket.destroy()
  }
}

function dispatchOptions({ target, method, headers, body }: Message): Dispatcher.DispatchOptions {
  return {
    path: `${target.url.pathname}${target.url.search}`,
    method,
    headers: { ...headers },
    body: body === undefined ? null : Buffer.from(body, 'utf8'),
  }
}

/** Reads an answer in chunks; settles once. */
class AnswerReader implements Dispatcher.DispatchHandler {
  readonly exchange: Promise<Exchange>
  readonly #body: CappedBytes
  readonly #resolve: (exchange: Exchange) => void
  #isDone = false
  #begun = false
  #status = 0
  #headers: Record<string, string> = {}

  constructor(maxBytes: number) {
    const { promise, resolve } = Promise.withResolvers<Exchange>()
    this.exchange = promise
    this.#resolve = resolve
    this.#body = new CappedBytes(maxBytes)
  }

  get isDone(): boolean {
    return this.#isDone
  }

  /** undici calls this before it writes the request. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    // The abort came too late to remove the message from undici's queue.
    if (this.#isDone) controller.abort(new Error('aborted'))
    else this.#begun = true
  }

  onResponseStart(
    _: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return
    this.#status = status
    for (const [name, value] of Object.entries(headers))
      if (value !== undefined) this.#headers[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : value
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#isDone && !this.#body.add(chunk)) this.#answered(true)
  }

  onResponseEnd(): void {
    this.#answered(false)
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.fail(reasonOf(error))
  }

  fail(reason: string): void {
    this.#settle({ type: this.#begun ? 'lost' : 'unsent', reason })
  }

  #answered(truncated: boolean): void {
    const [status, headers, body] = [this.#status, this.#headers, this.#body.bytes]
    this.#settle({ type: 'answered', status, headers, body, truncated })
  }

  #settle(exchange: Exchange): void {
    if (this.#isDone) return
    this.#isDone = true
    this.#resolve(exchange)
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  return (code === '' ? error.message : `${code}: ${error.message}`).slice(0, 200)
}
