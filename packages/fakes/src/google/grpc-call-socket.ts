import { EventEmitter } from 'node:events'
import type { ServerHttp2Stream } from 'node:http2'
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { WebSocket } from 'ws'
import type { FakeSocket } from '../sockets/fake-connection.ts'

const PREFIX_BYTES = 5
const HEADERS = { ':status': 200, 'content-type': 'application/grpc' }

/** The service's end of one gRPC call: each message is binary; that the client has ended the call is the text `{"type":"end"}`. */
export class GrpcCallSocket extends EventEmitter implements FakeSocket {
  readonly #stream: ServerHttp2Stream
  #received: Buffer = Buffer.alloc(0)
  #isOver = false

  constructor(stream: ServerHttp2Stream) {
    super()
    this.#stream = stream
    stream.on('data', (bytes: Buffer) => this.#onData(bytes))
    stream.on('end', () => {
      if (!this.#isOver) this.emit('message', Buffer.from('{"type":"end"}'), false)
    })
    stream.on('close', () => {
      this.#isOver = true
      this.emit('close')
    })
  }

  get readyState(): number {
    return this.#isOver || this.#stream.destroyed ? WebSocket.CLOSED : WebSocket.OPEN
  }

  send(data: string | Uint8Array, onSent: () => void): void {
    this.#begin()
    const message = Buffer.from(data)
    const prefix = Buffer.alloc(PREFIX_BYTES)
    prefix.writeUInt32BE(message.length, 1)
    this.#stream.write(Buffer.concat([prefix, message]), onSent)
  }

  /** Ends the call. `code`: a `google.rpc.Code`. */
  close(code: number, message: string): void {
    if (this.#isOver || this.#stream.destroyed) return
    this.#isOver = true
    this.#begin()
    this.#stream.once('wantTrailers', () => {
      this.#stream.sendTrailers({ 'grpc-status': String(code), 'grpc-message': encodeURIComponent(message) })
    })
    this.#stream.end()
  }

  /** Breaks the whole connection off. */
  terminate(): void {
    this.#stream.session?.destroy()
  }

  #begin(): void {
    if (!this.#stream.headersSent) this.#stream.respond(HEADERS, { waitForTrailers: true })
  }

  #onData(bytes: Buffer): void {
    this.#received = Buffer.concat([this.#received, bytes])
    while (this.#received.length >= PREFIX_BYTES) {
      const end = PREFIX_BYTES + this.#received.readUInt32BE(1)
      if (this.#received.length < end) return
      const message = this.#received.subarray(PREFIX_BYTES, end)
      this.#received = this.#received.subarray(end)
      if (!this.#isOver) this.emit('message', message, true)
    }
  }
}

interface CallRefusal {
  readonly code: number
  readonly message: string
  /** NaN: the refusal names no time. */
  readonly retryAfterS: number
}

/** Answers a call with a status and no message; the time after which to try again is a `google.rpc.RetryInfo` in its details. */
export function refuseCall(stream: ServerHttp2Stream, { code, message, retryAfterS }: CallRefusal): void {
  const status = new BinaryWriter().tag(1, WireType.Varint).int32(code)
  status.tag(2, WireType.LengthDelimited).string(message)
  if (Number.isFinite(retryAfterS)) {
    status.tag(3, WireType.LengthDelimited).fork()
    status.tag(1, WireType.LengthDelimited).string('type.googleapis.com/google.rpc.RetryInfo')
    status.tag(2, WireType.LengthDelimited).fork().tag(1, WireType.LengthDelimited).fork()
    status.tag(1, WireType.Varint).int64(retryAfterS).join().join().join()
  }
  stream.respond(
    {
      ...HEADERS,
      'grpc-status': String(code),
      'grpc-message': encodeURIComponent(message),
      'grpc-status-details-bin': Buffer.from(status.finish()).toString('base64'),
    },
    { endStream: true },
  )
}
