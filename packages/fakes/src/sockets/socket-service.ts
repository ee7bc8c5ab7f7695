import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { systemTime, type Time } from '@parley/kernel'
import { WebSocketServer } from 'ws'
import { closeServer, listenLocally } from '../local-server.ts'
import type { FakeDelays, ServiceFault } from '../protocol.ts'
import { type ConnectionHandler, FakeConnection, type FakeSocket, type FaultBehaviour } from './fake-connection.ts'

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
  /** A request over HTTP, such as one that checks a key, needs this key. Default: all of them are answered 404. */
  readonly apiKey?: string
  /** Checks a handshake; null accepts it. */
  readonly admit: (url: URL, headers: IncomingHttpHeaders) => Refusal | null
  /** The vendor's refusal with this status: for scripted faults, and 503 beyond 2000 connections. */
  readonly refusal: (status: number) => Refusal
  readonly handle: (connection: FakeConnection) => ConnectionHandler
  readonly faultBehaviour: FaultBehaviour
  /** Faults of the first connections, in order; null for none. Later connections are served. */
  readonly faults?: readonly (ServiceFault | null)[]
  /** Only `connectMs` is used. */
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

/** A fake service over WebSockets, on 127.0.0.1. */
export class SocketService<Counts extends ConnectionCounts = ConnectionCounts> {
  readonly #options: SocketServiceOptions
  readonly #counts: Counts
  readonly #time: Time
  readonly #server = createServer((request, response) => {
    const { status, body } = this.#answerToRequest(request)
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  readonly #handshakes = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
  })
  /** Sockets of all handshakes until they close, including those that wait or were refused. */
  readonly #sockets = new Set<Duplex>()
  readonly #connections = new Set<FakeConnection>()
  readonly #faults: (ServiceFault | null)[]
  #url = ''

  /** The service updates `counts`. */
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

  /** Faults of the next connections, after those that were injected before; null for none. */
  injectFaults(...faults: readonly (ServiceFault | null)[]): void {
    this.#faults.push(...faults)
  }

  /** Breaks all connections without a close frame. */
  breakOff(): void {
    for (const connection of this.#connections) connection.breakOff()
  }

  /** Closes every connection as the service does to idle ones. */
  closeIdle(): void {
    for (const connection of this.#connections) connection.idle()
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await closeServer(this.#server)
  }

  #answerToRequest({ headers }: IncomingMessage): Refusal {
    const { apiKey } = this.#options
    if (apiKey === undefined) return { status: 404, body: {} }
    const fault = this.#faults.shift() ?? null
    if (fault?.type === 'refuse') return this.#options.refusal(fault.status)
    const hasKey = Object.values(headers).some(value => value?.toString().split(' ').at(-1) === apiKey)
    return hasKey ? { status: 200, body: {} } : this.#options.refusal(401)
  }

  #onUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.#sockets.add(socket)
    socket.on('close', () => this.#sockets.delete(socket))
    socket.on('error', () => socket.destroy())
    const fault = this.takeFault()
    const connectMs = this.#options.delays?.connectMs ?? 0
    const answer = () => this.#answer(request, socket, head, fault)
    if (connectMs === 0) return answer()
    const timer = this.#time.at(this.#time.now() + connectMs, answer)
    socket.on('close', () => timer.cancel())
  }

  #answer(request: IncomingMessage, socket: Duplex, head: Buffer, fault: ServiceFault | null): void {
    const url = urlOf(request)
    const refusal = this.refusalOf(url, request.headers, fault)
    if (refusal === null) {
      this.#handshakes.handleUpgrade(request, socket, head, one => this.accept(one, url, request.headers, fault))
      return
    }
    socket.end(httpAnswer(refusal))
  }

  /** The fault of the next connection. */
  protected takeFault(): ServiceFault | null {
    return this.#faults.shift() ?? null
  }

  /** The refusal of a connection, which is counted; null: it is accepted. */
  protected refusalOf(url: URL, headers: IncomingHttpHeaders, fault: ServiceFault | null): Refusal | null {
    const refusal = this.#refusalOf(url, headers, fault)
    if (refusal !== null) this.#counts.refused++
    return refusal
  }

  #refusalOf(url: URL, headers: IncomingHttpHeaders, fault: ServiceFault | null): Refusal | null {
    if (this.#connections.size >= MAX_CONNECTIONS) return this.#options.refusal(503)
    if (fault?.type !== 'refuse') return this.#options.admit(url, headers)
    const { status, retryAfterS } = fault
    const refusal = this.#options.refusal(status)
    if (retryAfterS === undefined) return refusal
    return { ...refusal, headers: { ...refusal.headers, 'Retry-After': String(retryAfterS) } }
  }

  /** Serves a connection. */
  protected accept(socket: FakeSocket, url: URL, headers: IncomingHttpHeaders, fault: ServiceFault | null): void {
    const { faultBehaviour, handle } = this.#options
    this.#counts.connections++
    this.#counts.open++
    const connection = new FakeConnection(socket, { url, headers, time: this.#time, fault, faultBehaviour, handle })
    this.#connections.add(connection)
    socket.on('close', () => {
      this.#counts.open--
      this.#connections.delete(connection)
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
