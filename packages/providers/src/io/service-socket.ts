import type { Ms, Time, Timer } from '@parley/kernel'
import WebSocket from 'ws'
import { ProviderError, type ProviderErrorCode, type ProviderFailure } from '../errors.ts'

const CONNECT_MS: Ms = 5000
const MOST_MESSAGE_BYTES = 4 * 1024 * 1024
/** Twenty seconds of mu-law audio: a service that reads nothing for so long is considered gone. */
const MAX_QUEUED_BYTES = 160_000
/** Of a refused connection's answer so much is read, to tell why. */
const MOST_REASON_BYTES = 2000
/** And so long is waited for it. */
const REASON_MS: Ms = 500
const CLOSE_MS: Ms = 1000

interface ServiceSocketOptions {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly time: Time
  /** Limit for opening the connection; default 5000. */
  readonly connectMs?: Ms
  /** Limit of the bytes that wait to be sent; beyond it the socket ends with `overrun`. Default 160 000. */
  readonly maxQueuedBytes?: number
}

/** Why a socket is closed. */
export interface SocketEnd {
  /** `refused`: the service answered the connection with another status. `lost`: it broke, or never came up. */
  readonly cause: 'closed' | 'refused' | 'lost' | 'timeout' | 'overrun'
  /** WebSocket close code, or null. */
  readonly code: number | null
  /** HTTP status of a refusal, or null. */
  readonly status: number | null
  /** From `Retry-After`, ms; null where it was not said. */
  readonly retryAfterMs: Ms | null
  /** For people; what the service said, at most 2000 characters: the key may be in it. */
  readonly reason: string
}

interface ServiceSocketListener {
  readonly onOpen?: () => void
  readonly onText: (text: string) => void
  readonly onBinary: (bytes: Buffer) => void
  /** Once, last. Not called after `close`. */
  readonly onEnd: (end: SocketEnd) => void
}

/**
 * A WebSocket to a service: bounded in time, in the size of a message and in what waits to be sent. What is sent before
 * it stands is kept. Events of it never throw into the caller.
 */
export class ServiceSocket {
  readonly #socket: WebSocket
  readonly #listener: ServiceSocketListener
  readonly #time: Time
  readonly #maxQueuedBytes: number
  readonly #waiting: (string | Uint8Array)[] = []
  #waitingBytes = 0
  #timer: Timer | null
  #over = false

  constructor(options: ServiceSocketOptions, listener: ServiceSocketListener) {
    this.#listener = listener
    this.#time = options.time
    this.#maxQueuedBytes = options.maxQueuedBytes ?? MAX_QUEUED_BYTES
    this.#socket = new WebSocket(options.url, {
      headers: options.headers ?? {},
      maxPayload: MOST_MESSAGE_BYTES,
      perMessageDeflate: false,
      followRedirects: false,
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
      const tell = () =>
        this.#end({
          cause: 'refused',
          status: response.statusCode ?? null,
          retryAfterMs: retryAfter(response.headers['retry-after']),
          reason: text.trim() || `answered ${response.statusCode}`,
        })
      response.on('data', (chunk: Buffer) => {
        text = `${text}${chunk}`.slice(0, MOST_REASON_BYTES)
        if (text.length === MOST_REASON_BYTES) tell()
      })
      response.on('end', tell)
      response.on('error', tell)
      this.#timer?.cancel()
      if (!this.#over) this.#timer = this.#time.at(this.#time.now() + REASON_MS, tell)
    })
  }

  get isOpen(): boolean {
    return !this.#over && this.#socket.readyState === WebSocket.OPEN
  }

  get isOver(): boolean {
    return this.#over
  }

  /** Sends, or keeps until the connection stands. Too much waiting ends the socket with `overrun`. */
  send(data: string | Uint8Array): void {
    if (this.#over) return
    const bytes = typeof data === 'string' ? Buffer.byteLength(data) : data.byteLength
    if (this.isOpen) {
      if (this.#socket.bufferedAmount + bytes > this.#maxQueuedBytes) return this.#overrun()
      this.#socket.send(data, () => {})
      return
    }
    this.#waitingBytes += bytes
    if (this.#waitingBytes > this.#maxQueuedBytes) return this.#overrun()
    this.#waiting.push(typeof data === 'string' ? data : data.slice())
  }

  /** Closes in good order; no event comes after this. Idempotent. */
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
    for (const data of this.#waiting.splice(0)) this.#socket.send(data, () => {})
    this.#waitingBytes = 0
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
    this.#waiting.length = 0
    this.#socket.terminate()
    this.#listener.onEnd({
      code: null,
      status: null,
      retryAfterMs: null,
      ...end,
      reason: end.reason.slice(0, MOST_REASON_BYTES),
    })
  }

  #terminateLater(): void {
    const timer = this.#time.at(this.#time.now() + CLOSE_MS, () => this.#socket.terminate())
    this.#socket.on('close', () => timer.cancel())
  }
}

/** Seconds, or an HTTP date, which is taken for "soon": clocks differ. */
function retryAfter(header: string | undefined): Ms | null {
  if (header === undefined) return null
  const seconds = Number(header)
  return Number.isFinite(seconds) && seconds >= 0 ? Math.min(seconds, 3600) * 1000 : 1000
}

/** Codes of a port's errors, by what happened to its socket. */
interface SocketErrorCodes {
  readonly unreachable: ProviderErrorCode
  readonly busy: ProviderErrorCode
  readonly refused: ProviderErrorCode
  readonly failed: ProviderErrorCode
}

/** The error of the port for the end of its socket; `service` is what it is called in messages. */
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
