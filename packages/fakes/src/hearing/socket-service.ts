import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { type Ms, systemTime, type Time, type Timer } from '@parley/kernel'
import { WebSocket, WebSocketServer } from 'ws'
import type { FakeDelays, Unkindness } from '../protocol.ts'

const MOST_CONNECTIONS = 500
const MOST_MESSAGE_BYTES = 1024 * 1024

/** An answer instead of a connection, in the vendor's shape. */
export interface Refusal {
  readonly status: number
  readonly body: object
  readonly headers?: Readonly<Record<string, string>>
}

/** What a fake does with one connection. */
export interface Conversation {
  onText(text: string): void
  onBinary(bytes: Buffer): void
  /** Says an error in the vendor's shape, and closes as the vendor does. */
  fail(): void
  /** The connection is gone. */
  end(): void
}

export interface SocketServiceOptions {
  /** Looks at a request; null lets it in. */
  readonly admit: (url: URL, request: IncomingMessage) => Refusal | null
  /** Whether the key is right, for services that look at it once the connection stands: `line.isAuthorized`. */
  readonly authorize?: (request: IncomingMessage) => boolean
  /** The vendor's refusal with that status. */
  readonly refusal: (status: number) => object
  readonly converse: (line: ServiceLine) => Conversation
  readonly unkindness?: readonly Unkindness[]
  readonly delays?: FakeDelays
  readonly time?: Time
}

/** A WebSocket service on a local port. */
export class SocketService {
  readonly #options: SocketServiceOptions
  readonly #time: Time
  readonly #server: Server
  readonly #sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MOST_MESSAGE_BYTES,
    perMessageDeflate: false,
  })
  readonly #lines = new Set<ServiceLine>()
  readonly #unkindness: Unkindness[]
  /** Connections that were let in, and those that were refused. */
  readonly counts = { accepted: 0, refused: 0 }

  private constructor(options: SocketServiceOptions) {
    this.#options = options
    this.#time = options.time ?? systemTime
    this.#unkindness = [...(options.unkindness ?? [])]
    this.#server = createServer((_request, response) => response.writeHead(404).end())
    this.#server.on('upgrade', (request, socket, head) => this.#onUpgrade(request, socket, head))
  }

  static async open(options: SocketServiceOptions): Promise<SocketService> {
    const service = new SocketService(options)
    await new Promise<void>((resolve, reject) => {
      service.#server.once('error', reject)
      service.#server.listen(0, '127.0.0.1', resolve)
    })
    return service
  }

  get url(): string {
    return `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Connections that stand. */
  get lines(): readonly ServiceLine[] {
    return [...this.#lines]
  }

  /** From now on, for the connections to come. */
  beUnkind(...unkindness: readonly Unkindness[]): void {
    this.#unkindness.push(...unkindness)
  }

  /** Breaks all connections off, without a close frame. */
  breakOff(): void {
    for (const line of this.#lines) line.breakOff()
  }

  async close(): Promise<void> {
    this.breakOff()
    this.#server.closeAllConnections()
    await new Promise<void>(resolve => this.#server.close(() => resolve()))
  }

  #onUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy())
    const unkindness = this.#unkindness.shift() ?? null
    const refusal = this.#refusalOf(unkindness, request)
    const connectMs = this.#options.delays?.connectMs ?? 0
    const go = () => {
      if (socket.destroyed) return
      if (refusal !== null) return this.#refuse(refusal, socket)
      this.counts.accepted++
      this.#sockets.handleUpgrade(request, socket, head, one => this.#accept(one, request, unkindness))
    }
    if (connectMs === 0) go()
    else this.#time.at(this.#time.now() + connectMs, go)
  }

  #refusalOf(unkindness: Unkindness | null, request: IncomingMessage): Refusal | null {
    if (this.#lines.size >= MOST_CONNECTIONS) return { status: 503, body: this.#options.refusal(503) }
    if (unkindness?.type !== 'refuse') return this.#options.admit(urlOf(request), request)
    const { status, retryAfterS } = unkindness
    const headers = retryAfterS === undefined ? {} : { 'retry-after': String(retryAfterS) }
    return { status, body: this.#options.refusal(status), headers }
  }

  #refuse({ status, body, headers = {} }: Refusal, socket: Duplex): void {
    this.counts.refused++
    const text = JSON.stringify(body)
    const fields = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text), ...headers }
    const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
    socket.end(`HTTP/1.1 ${status} Refused\r\n${lines.join('')}connection: close\r\n\r\n${text}`)
  }

  #accept(socket: WebSocket, request: IncomingMessage, unkindness: Unkindness | null): void {
    const { authorize, converse } = this.#options
    const line = new ServiceLine(socket, {
      url: urlOf(request),
      isAuthorized: authorize?.(request) ?? true,
      time: this.#time,
      unkindness,
      converse,
    })
    this.#lines.add(line)
    socket.on('close', () => this.#lines.delete(line))
  }
}

interface LineOptions {
  readonly url: URL
  readonly isAuthorized: boolean
  readonly time: Time
  readonly unkindness: Unkindness | null
  readonly converse: (line: ServiceLine) => Conversation
}

/** One connection, as the service's end sees it; it suffers the unkindness that was scripted for it. */
export class ServiceLine {
  readonly query: URLSearchParams
  readonly isAuthorized: boolean
  readonly time: Time
  readonly #socket: WebSocket
  readonly #timers = new Set<Timer>()
  readonly #conversation: Conversation
  #unkindness: Unkindness | null
  #isDeaf = false
  readonly #delayed: (object | Uint8Array)[] = []

  constructor(socket: WebSocket, { url, isAuthorized, time, unkindness, converse }: LineOptions) {
    this.#socket = socket
    this.query = url.searchParams
    this.isAuthorized = isAuthorized
    this.time = time
    this.#unkindness = unkindness
    if (unkindness?.type === 'mute') this.#isDeaf = true
    if (unkindness?.type === 'garble') for (const nonsense of NONSENSE) socket.send(nonsense)
    this.#conversation = converse(this)
    socket.on('message', (data, isBinary) => {
      if (this.#isDeaf) return
      this.#turnUnkind()
      if (isBinary) this.#conversation.onBinary(data as Buffer)
      else this.#conversation.onText(String(data))
    })
    socket.on('error', () => socket.terminate())
    socket.on('close', () => {
      for (const timer of this.#timers) timer.cancel()
      this.#conversation.end()
    })
  }

  /** Sends a message `delayMs` from now, in order. */
  say(message: object | Uint8Array, delayMs: Ms = 0): void {
    if (delayMs === 0 && this.#delayed.length === 0) return this.#send(message)
    this.#delayed.push(message)
    // The earliest that waits goes with each timer: timers of one instant need not come in order.
    this.after(delayMs, () => this.#send(this.#delayed.shift()!))
  }

  after(ms: Ms, act: () => void): Timer {
    const timer = this.time.at(this.time.now() + ms, () => {
      this.#timers.delete(timer)
      act()
    })
    this.#timers.add(timer)
    return {
      cancel: () => {
        timer.cancel()
        this.#timers.delete(timer)
      },
    }
  }

  close(code: number, reason = ''): void {
    this.#socket.close(code, reason)
  }

  breakOff(): void {
    this.#socket.terminate()
  }

  #send(message: object | Uint8Array): void {
    if (this.#isDeaf || this.#socket.readyState !== WebSocket.OPEN) return
    this.#turnUnkind()
    this.#socket.send(message instanceof Uint8Array ? message : JSON.stringify(message), () => {})
  }

  #turnUnkind(): void {
    const unkindness = this.#unkindness
    this.#unkindness = null
    if (unkindness === null || !('afterMs' in unkindness)) return
    this.after(unkindness.afterMs, () => {
      if (unkindness.type === 'break-off') this.breakOff()
      else if (unkindness.type === 'error') this.#conversation.fail()
      else this.#isDeaf = true
    })
  }
}

const NONSENSE = [
  'no json',
  '[]',
  'null',
  '{}',
  '{"type":7}',
  '{"type":"Results"}',
  '{"type":"Results","start":"x","duration":-1,"channel":{"alternatives":[null]}}',
  '{"type":"TurnInfo","event":"EndOfTurn"}',
  '{"type":"Turn","turn_order":null,"words":[1,{}]}',
  '{"type":"SomethingNew","__proto__":{"type":"Error"}}',
  Buffer.from([0, 1, 2, 255]),
]

function urlOf(request: IncomingMessage): URL {
  const path = request.url ?? '/'
  return URL.canParse(path, 'ws://localhost') ? new URL(path, 'ws://localhost') : new URL('ws://localhost/')
}
