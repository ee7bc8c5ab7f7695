import type { Ms, Time, Timer } from '@parley/kernel'
import WebSocket from 'ws'
import { ProviderError, type ProviderErrorCode, type ProviderFailure } from '../errors.ts'
import type { HostLookup } from './host-lookup.ts'

const CONNECT_MS: Ms = 5000
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024
/** Twenty seconds of mu-law audio: a service that reads nothing for this long is considered gone. */
const MAX_QUEUED_BYTES = 160_000
/** Bytes that are read of the answer to a refused connection, for the error text. */
const MAX_REASON_BYTES = 2000
/** Limit of the wait for that answer. */
const REASON_MS: Ms = 500
const CLOSE_MS: Ms = 1000

interface ServiceSocketOptions {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  /** Resolves the name of the URL. Default: the system's resolver. */
  readonly lookup?: HostLookup
  readonly time: Time
  /** Limit for opening the connection; default 5000. */
  readonly connectMs?: Ms
  /** Limit of the bytes that wait to be sent; beyond it the socket ends with `overrun`. Default 160 000. */
  readonly maxQueuedBytes?: number
}

/** Why a socket is closed. */
export interface SocketEnd {
  /** `refused`: the service answered the handshake with another status than 101. `lost`: the connection broke or was never opened. */
  readonly cause: 'closed' | 'refused' | 'lost' | 'timeout' | 'overrun'
  /** WebSocket close code, or null. */
  readonly code: number | null
  /** HTTP status of a refusal, or null. */
  readonly status: number | null
  /** The `Retry-After` header; null: there was none. */
  readonly retryAfterMs: Ms | null
  /** Text for people, of the service or the system; at most 2000 characters. It may contain the key. */
  readonly reason: string
}

interface ServiceSocketListener {
  readonly onOpen?: () => void
  readonly onText: (text: string) => void
  readonly onBinary: (bytes: Buffer) => void
  /** Called once, as the last event; not called after `close`. */
  readonly onEnd: (end: SocketEnd) => void
}

/**
 * A WebSocket to a service, with limits on the time to connect, the size of a message and the bytes that wait to be sent.
 * Messages that are sent before it is open are queued.
 */
export class ServiceSocket {
  readonly #socket: WebSocket
  readonly #listener: ServiceSocketListener
  readonly #time: Time
  readonly #maxQueuedBytes: number
  readonly #queue: (string | Uint8Array)[] = []
  #queuedBytes = 0
  #timer: Timer | null
  #over = false

  constructor(options: ServiceSocketOptions, listener: ServiceSocketListener) {
    this.#listener = listener
    this.#time = options.time
    this.#maxQueuedBytes = options.maxQueuedBytes ?? MAX_QUEUED_BYTES
    this.#socket = new WebSocket(options.url, {
      headers: options.headers ?? {},
      maxPayload: MAX_MESSAGE_BYTES,
      perMessageDeflate: false,
      followRedirects: false,
      ...(options.lookup !== undefined && { lookup: options.lookup }),
    })
    const connectMs = options.connectMs ?? CONNECT_MS
    this.#timer = this.#time.at(this.#time.now() + connectMs, () => {
      this.#end({ cause: 'timeout', reason: `no connection within ${connectMs} ms` })
    })
    this.#socket.on('open', () => this.#onOpen())
    this.#socket.on('message', (data, isBinary) => this.#onMessage(data as Buffer, isBinary))
    this.#socket.on('close', (code, reason) =>
      this.#end({ cause: code === 1006 ? 'lost' : 'closed', code, reason: reason.toString() || `closed with ${code}` }),
    )
    this.#socket.on('error', error => this.#end({ cause: 'lost', reason: error.message }))
    this.#socket.on('unexpected-response', (_request, response) => {
      let text = ''
      const onReason = () =>
        this.#end({
          cause: 'refused',
          status: response.statusCode ?? null,
          retryAfterMs: retryAfter(response.headers['retry-after']),
          reason: text.trim() || `answered ${response.statusCode}`,
        })
      response.on('data', (chunk: Buffer) => {
        text = `${text}${chunk}`.slice(0, MAX_REASON_BYTES)
        if (text.length === MAX_REASON_BYTES) onReason()
      })
      response.on('end', onReason)
      response.on('error', onReason)
      this.#timer?.cancel()
      if (!this.#over) this.#timer = this.#time.at(this.#time.now() + REASON_MS, onReason)
    })
  }

  get isOpen(): boolean {
    return !this.#over && this.#socket.readyState === WebSocket.OPEN
  }

  get isOver(): boolean {
    return this.#over
  }

  /** Sends the message, or queues it until the connection is open. Too many waiting bytes end the socket with `overrun`. */
  send(data: string | Uint8Array): void {
    if (this.#over) return
    const bytes = typeof data === 'string' ? Buffer.byteLength(data) : data.byteLength
    if (this.isOpen) {
      if (this.#socket.bufferedAmount + bytes > this.#maxQueuedBytes) return this.#overrun()
      this.#socket.send(data, () => {})
      return
    }
    this.#queuedBytes += bytes
    if (this.#queuedBytes > this.#maxQueuedBytes) return this.#overrun()
    this.#queue.push(typeof data === 'string' ? data : data.slice())
  }

  /** Closes with a close frame; no event follows. Idempotent. */
  close(code = 1000): void {
    if (this.#over) return
    this.#over = true
    this.#timer?.cancel()
    if (this.#socket.readyState !== WebSocket.OPEN) return this.#socket.terminate()
    this.#socket.close(code)
    this.#terminateLater()
  }

  #onOpen(): void {
    if (this.#over) return
    this.#timer?.cancel()
    this.#timer = null
    for (const data of this.#queue.splice(0)) this.#socket.send(data, () => {})
    this.#queuedBytes = 0
    this.#listener.onOpen?.()
  }

  #onMessage(data: Buffer, isBinary: boolean): void {
    if (this.#over) return
    if (isBinary) this.#listener.onBinary(data)
    else this.#listener.onText(data.toString('utf8'))
  }

  #overrun(): void {
    this.#end({
      cause: 'overrun',
      reason: `the service accepts no data: over ${this.#maxQueuedBytes} bytes wait to be sent`,
    })
  }

  #end(end: Pick<SocketEnd, 'cause' | 'reason'> & Partial<SocketEnd>): void {
    if (this.#over) return
    this.#over = true
    this.#timer?.cancel()
    this.#queue.length = 0
    this.#socket.terminate()
    this.#listener.onEnd({
      code: null,
      status: null,
      retryAfterMs: null,
      ...end,
      reason: end.reason.slice(0, MAX_REASON_BYTES),
    })
  }

  #terminateLater(): void {
    const timer = this.#time.at(this.#time.now() + CLOSE_MS, () => this.#socket.terminate())
    this.#socket.on('close', () => timer.cancel())
  }
}

/** Seconds; an HTTP date counts as one second, because the clocks may differ. */
function retryAfter(header: string | undefined): Ms | null {
  if (header === undefined) return null
  const seconds = Number(header)
  return Number.isFinite(seconds) && seconds >= 0 ? Math.min(seconds, 3600) * 1000 : 1000
}

/** Error codes of a port, by the way in which a socket ended. */
interface SocketErrorCodes {
  readonly unreachable: ProviderErrorCode
  readonly busy: ProviderErrorCode
  readonly refused: ProviderErrorCode
  readonly failed: ProviderErrorCode
}

/** The error for the end of a socket; `service` is its name in error texts. */
export function socketError(end: SocketEnd, service: string, codes: SocketErrorCodes): ProviderFailure {
  const text = `${service}: ${end.reason}`
  if (end.cause === 'refused') {
    if (end.status === 429 || end.status === 503) return new ProviderError(codes.busy, text)
    if (end.status !== null && end.status >= 500) return new ProviderError(codes.unreachable, text)
    return new ProviderError(codes.refused, text)
  }
  if (end.cause === 'closed' && end.code === 1008) return new ProviderError(codes.refused, text)
  if (end.cause === 'closed') return new ProviderError(codes.failed, text)
  return new ProviderError(codes.unreachable, text)
}
