import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { systemTime, type Time } from '@parley/kernel'
import { type WebSocket, WebSocketServer } from 'ws'
import { closeServer, listenLocally } from '../local-server.ts'
import type { FakeDelays, ServiceFault } from '../protocol.ts'
import { type ConnectionHandler, FakeConnection, type FaultBehaviour } from './fake-connection.ts'

const MAX_CONNECTIONS = 2000
const MAX_MESSAGE_BYTES = 1024 * 1024

/** An HTTP answer instead of a connection, in the vendor's shape. */
export interface Refusal {
  readonly status: number
  /** Sent as JSON. */
  readonly body: object
  readonly headers?: Readonly<Record<string, string>>
}

export interface SocketServiceOptions {
  /** Looks at a request; null lets it in. */
  readonly admit: (url: URL, headers: IncomingHttpHeaders) => Refusal | null
  /** The vendor's refusal with that status: for what is scripted, and 503 for more than 2000 connections. */
  readonly refusal: (status: number) => Refusal
  readonly handle: (line: FakeConnection) => ConnectionHandler
  readonly faultBehaviour: FaultBehaviour
  /** One for each connection, in their order, null for none; those after it are served kindly. */
  readonly faults?: readonly (ServiceFault | null)[]
  /** `connectMs` alone. */
  readonly delays?: FakeDelays
  /** Default the system's. */
  readonly time?: Time
}

export interface ConnectionCounts {
  /** Accepted so far. */
  connections: number
  /** Open now. */
  open: number
  refused: number
}

/** A fake that is spoken to over WebSockets, on 127.0.0.1. */
export class SocketService<Counts extends ConnectionCounts = ConnectionCounts> {
  readonly #options: SocketServiceOptions
  readonly #counts: Counts
  readonly #time: Time
  readonly #server = createServer((_request, response) => response.writeHead(404).end())
  readonly #handshakes = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
  })
  /** Of requests to upgrade, until they are gone: also those that wait, or were refused. */
  readonly #sockets = new Set<Duplex>()
  readonly #lines = new Set<FakeConnection>()
  readonly #faults: (ServiceFault | null)[]
  #url = ''

  /** `counts` is kept up to date. */
  protected constructor(options: SocketServiceOptions, counts: Counts) {
    this.#options = options
    this.#counts = counts
    this.#time = options.time ?? systemTime
    this.#faults = [...(options.faults ?? [])]
    this.#server.on('upgrade', (request, socket, head) => this.#onUpgrade(request, socket, head))
  }

  protected async listen(): Promise<this> {
    this.#url = `ws://127.0.0.1:${await listenLocally(this.#server)}`
    return this
  }

  /** "ws://127.0.0.1:PORT". */
  get url(): string {
    return this.#url
  }

  get counts(): Readonly<Counts> {
    return this.#counts
  }

  /** What the next connections meet, after those that were given before. */
  injectFaults(...faults: readonly (ServiceFault | null)[]): void {
    this.#faults.push(...faults)
  }

  /** Breaks all connections off, without a close frame. */
  breakOff(): void {
    for (const line of this.#lines) line.breakOff()
  }

  /** Closes every connection as the service does to idle ones. */
  closeIdle(): void {
    for (const line of this.#lines) line.idle()
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await closeServer(this.#server)
  }

  #onUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.#sockets.add(socket)
    socket.on('close', () => this.#sockets.delete(socket))
    socket.on('error', () => socket.destroy())
    const faults = this.#faults.shift() ?? null
    const connectMs = this.#options.delays?.connectMs ?? 0
    const answer = () => this.#answer(request, socket, head, faults)
    if (connectMs === 0) return answer()
    const timer = this.#time.at(this.#time.now() + connectMs, answer)
    socket.on('close', () => timer.cancel())
  }

  #answer(request: IncomingMessage, socket: Duplex, head: Buffer, faults: ServiceFault | null): void {
    const url = urlOf(request)
    const refusal = this.#refusalOf(url, request.headers, faults)
    if (refusal === null) {
      this.#handshakes.handleUpgrade(request, socket, head, one => this.#accept(one, url, request.headers, faults))
      return
    }
    this.#counts.refused++
    socket.end(httpAnswer(refusal))
  }

  #refusalOf(url: URL, headers: IncomingHttpHeaders, faults: ServiceFault | null): Refusal | null {
    if (this.#lines.size >= MAX_CONNECTIONS) return this.#options.refusal(503)
    if (faults?.type !== 'refuse') return this.#options.admit(url, headers)
    const { status, retryAfterS } = faults
    const refusal = this.#options.refusal(status)
    if (retryAfterS === undefined) return refusal
    return { ...refusal, headers: { ...refusal.headers, 'Retry-After': String(retryAfterS) } }
  }

  #accept(socket: WebSocket, url: URL, headers: IncomingHttpHeaders, faults: ServiceFault | null): void {
    const { faultBehaviour, handle } = this.#options
    this.#counts.connections++
    this.#counts.open++
    const line = new FakeConnection(socket, { url, headers, time: this.#time, faults, faultBehaviour, handle })
    this.#lines.add(line)
    socket.on('close', () => {
      this.#counts.open--
      this.#lines.delete(line)
    })
  }
}

function httpAnswer({ status, body, headers = {} }: Refusal): string {
  const text = JSON.stringify(body)
  const fields = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text), ...headers }
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} Refused\r\n${lines.join('')}Connection: close\r\n\r\n${text}`
}

function urlOf({ url = '/' }: IncomingMessage): URL {
  return URL.parse(url, 'ws://localhost') ?? new URL('ws://localhost/')
}
