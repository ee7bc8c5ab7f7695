import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type IncomingHttpHeaders,
  type IncomingHttpStatusHeader,
} from 'node:http2'
import type { Ms, Time, Timer } from '@parley/kernel'
import type { SocketEnd } from '../../io/service-socket.ts'
import { bytesFields, durationField, protobufFields, textField } from '../protobuf.ts'
import type { StreamingCall, StreamingCallListener } from '../streaming-calls.ts'

const CONNECT_MS: Ms = 5000
/** Limit of the wait for calls that end when the connection is closed. */
const CLOSE_MS: Ms = 1000
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024
/** Length of what precedes each message: whether it is compressed, and its length in four bytes. */
const PREFIX_BYTES = 5
const UNAVAILABLE = 14
const MAX_REASON_LENGTH = 2000

interface GrpcConnectionOptions {
  /** "https://host" with the path of the method. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly time: Time
  /** Limit of the bytes that wait to be sent; beyond it the connection ends with `overrun`. */
  readonly maxQueuedBytes: number
}

interface GrpcConnectionListener {
  readonly onOpen: () => void
  /** Called once, as the last event; not called after `close`. A call that ends with another status than OK ends the connection. */
  readonly onEnd: (end: SocketEnd) => void
}

/** An HTTP/2 connection for streaming calls of one method, with limits on the time to connect, the size of a message and the bytes that wait to be sent. */
export class GrpcConnection {
  readonly #options: GrpcConnectionOptions
  readonly #listener: GrpcConnectionListener
  readonly #session: ClientHttp2Session
  readonly #path: string
  #timer: Timer | null
  #openCalls = 0
  #over = false

  constructor(options: GrpcConnectionOptions, listener: GrpcConnectionListener) {
    this.#options = options
    this.#listener = listener
    const url = new URL(options.url)
    this.#path = url.pathname
    this.#session = connect(url.origin, { settings: { enablePush: false } })
    const { time } = options
    this.#timer = time.at(time.now() + CONNECT_MS, () =>
      this.#end({ cause: 'timeout', reason: `no connection within ${CONNECT_MS} ms` }),
    )
    this.#session.on('connect', () => {
      this.#timer?.cancel()
      if (!this.#over) listener.onOpen()
    })
    this.#session.on('error', error => this.#end({ cause: 'lost', reason: error.message }))
    this.#session.on('close', () => this.#end({ cause: 'lost', reason: 'the connection was closed' }))
  }

  call(listener: StreamingCallListener): StreamingCall {
    if (this.#over || this.#session.destroyed) return { send: () => {}, end: () => {}, close: () => {} }
    const stream = this.#session.request(
      {
        ':method': 'POST',
        ':path': this.#path,
        'content-type': 'application/grpc',
        te: 'trailers',
        ...this.#options.headers,
      },
      { endStream: false },
    )
    this.#openCalls++
    stream.on('close', () => {
      this.#openCalls--
      if (this.#over && this.#openCalls === 0) this.#session.destroy()
    })
    const reader = new CallReader({
      onMessage: listener.onMessage,
      onEnd: end => {
        if (!stream.writableEnded) stream.end()
        if (end === null) listener.onEnd()
        else this.#end(end)
      },
    })
    reader.read(stream)
    return {
      send: message => this.#send(stream, message),
      end: () => stream.end(),
      close: () => {
        reader.stop()
        stream.close(constants.NGHTTP2_CANCEL)
      },
    }
  }

  /** Waits up to a second for calls that were ended; no event follows. Idempotent. */
  close(): void {
    if (this.#over) return
    this.#finish()
    if (this.#openCalls === 0 || this.#session.connecting) return this.#session.destroy()
    const timer = this.#options.time.at(this.#options.time.now() + CLOSE_MS, () => this.#session.destroy())
    this.#session.on('close', () => timer.cancel())
  }

  #send(stream: ClientHttp2Stream, message: Uint8Array): void {
    if (this.#over || stream.destroyed || stream.writableEnded) return
    if (stream.writableLength + message.length > this.#options.maxQueuedBytes)
      return this.#end({ cause: 'overrun', reason: 'the service accepts no data' })
    const prefix = Buffer.alloc(PREFIX_BYTES)
    prefix.writeUInt32BE(message.length, 1)
    stream.write(Buffer.concat([prefix, message]))
  }

  #end(end: Pick<SocketEnd, 'cause' | 'reason'> & Partial<SocketEnd>): void {
    if (this.#over) return
    this.#finish()
    this.#session.destroy()
    this.#listener.onEnd({
      code: null,
      status: null,
      retryAfterMs: null,
      ...end,
      reason: end.reason.slice(0, MAX_REASON_LENGTH),
    })
  }

  #finish(): void {
    this.#over = true
    this.#timer?.cancel()
  }
}

type CallFailure = Pick<SocketEnd, 'cause' | 'reason'> & Partial<SocketEnd>

/** Reads what the service sends in one call: messages, and the status at its end (gRPC over HTTP/2, "Responses"). */
class CallReader {
  readonly #onMessage: (bytes: Uint8Array) => void
  /** Null: the status OK. */
  readonly #onEnd: (failure: CallFailure | null) => void
  #received: Buffer = Buffer.alloc(0)
  #failure: CallFailure | null = { cause: 'lost', reason: 'the call broke off' }
  #isOver = false

  constructor(listener: {
    readonly onMessage: (bytes: Uint8Array) => void
    readonly onEnd: (failure: CallFailure | null) => void
  }) {
    this.#onMessage = listener.onMessage
    this.#onEnd = listener.onEnd
  }

  /** No event follows. */
  stop(): void {
    this.#isOver = true
  }

  read(stream: ClientHttp2Stream): void {
    stream.on('response', headers => this.#onHeaders(headers))
    stream.on('trailers', headers => this.#onStatus(headers))
    stream.on('data', (bytes: Buffer) => this.#onData(bytes))
    stream.on('error', error => {
      if (this.#failure?.cause === 'lost') this.#failure = { cause: 'lost', reason: error.message }
    })
    stream.on('end', () => this.#end())
    stream.on('close', () => this.#end())
  }

  #onHeaders(headers: IncomingHttpHeaders & IncomingHttpStatusHeader): void {
    const status = headers[':status'] ?? 0
    if (headers['grpc-status'] !== undefined) return this.#onStatus(headers)
    if (status === 200) return
    const seconds = Number(headers['retry-after'] ?? Number.NaN)
    const retryAfterMs = Number.isFinite(seconds) && seconds >= 0 ? Math.min(seconds, 3600) * 1000 : null
    this.#failure = { cause: 'refused', status, retryAfterMs, reason: `answered ${status}` }
  }

  /** The status comes after the messages, or in the place of the headers when there are none. */
  #onStatus(headers: IncomingHttpHeaders): void {
    const code = Number(headers['grpc-status'] ?? 2)
    const text = decoded(String(headers['grpc-message'] ?? ''))
    const reason = text === '' ? `status ${code}` : text
    if (code === 0) this.#failure = null
    else if (code === UNAVAILABLE) this.#failure = { cause: 'lost', reason }
    else
      this.#failure = {
        cause: 'closed',
        code,
        reason,
        retryAfterMs: retryDelay(String(headers['grpc-status-details-bin'] ?? '')),
      }
  }

  #onData(bytes: Buffer): void {
    this.#received = this.#received.length === 0 ? bytes : Buffer.concat([this.#received, bytes])
    while (!this.#isOver && this.#received.length >= PREFIX_BYTES) {
      const length = this.#received.readUInt32BE(1)
      if (this.#received[0] !== 0 || length > MAX_MESSAGE_BYTES) {
        this.#failure = { cause: 'closed', code: null, reason: 'a message is compressed or too long' }
        return this.#end()
      }
      if (this.#received.length < PREFIX_BYTES + length) return
      const message = this.#received.subarray(PREFIX_BYTES, PREFIX_BYTES + length)
      this.#received = this.#received.subarray(PREFIX_BYTES + length)
      this.#onMessage(message)
    }
  }

  #end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#onEnd(this.#failure)
  }
}

/** The text of `grpc-message`, which is percent-encoded. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The delay of the `google.rpc.RetryInfo` in the details of a status (`google.rpc.Status` in base64); null: there is none. */
function retryDelay(details: string): Ms | null {
  const status = protobufFields(Buffer.from(details, 'base64')) ?? []
  for (const detail of bytesFields(status, 3)) {
    const any = protobufFields(detail) ?? []
    if (!textField(any, 1).endsWith('google.rpc.RetryInfo')) continue
    return durationField(protobufFields(bytesFields(any, 2).at(-1) ?? new Uint8Array(0)) ?? [], 1)
  }
  return null
}
