import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Ms } from '@parley/kernel'
import { WebSocketServer } from 'ws'
import type { Unkindness } from '../protocol.ts'
import { type FakeError, FakeLine } from './fake-line.ts'
import { type FakeVoiceCounts, type FakeVoiceOptions, noCounts } from './fake-voice.ts'

/** An HTTP answer instead of a connection, in the service's own shape. */
export interface FakeRefusal {
  readonly status: number
  readonly body: string
  readonly headers?: Readonly<Record<string, string>>
}

/** What a connection does with what it hears. */
export interface FakeSession {
  readonly onText: (text: string) => void
  readonly onClose: () => void
}

/** What differs between the services. */
export interface FakeVoiceService {
  readonly idleCloseMs: Ms
  /** Checks path, key and query. */
  readonly check: (url: URL, request: IncomingMessage) => FakeRefusal | null
  /** A refusal that the script asks for. */
  readonly refusal: (status: number) => FakeRefusal
  readonly error: FakeError
  readonly idle: FakeError
  readonly session: (line: FakeLine, url: URL, counts: FakeVoiceCounts) => FakeSession
}

const MOST_CONNECTIONS = 2000

/** A fake voice over WebSockets, on 127.0.0.1. */
export class FakeVoiceServer {
  readonly #counts: FakeVoiceCounts = noCounts()
  #url = ''
  readonly #service: FakeVoiceService
  readonly #options: FakeVoiceOptions
  readonly #unkindness: (Unkindness | null)[]
  readonly #server: Server = createServer((_request, response) => response.writeHead(404).end())
  readonly #sockets = new WebSocketServer({ noServer: true, maxPayload: 1024 * 1024, perMessageDeflate: false })
  readonly #lines = new Set<FakeLine>()
  #closed = false

  constructor(service: FakeVoiceService, options: FakeVoiceOptions) {
    this.#service = service
    this.#options = options
    this.#unkindness = [...(options.unkindness ?? [])]
    this.#server.on('upgrade', (request, socket, head) => this.#onUpgrade(request, socket, head))
  }

  /** "ws://127.0.0.1:PORT", once it listens. */
  get url(): string {
    return this.#url
  }

  get counts(): Readonly<FakeVoiceCounts> {
    return this.#counts
  }

  async listen(): Promise<this> {
    await new Promise<void>(resolve => this.#server.listen(0, '127.0.0.1', resolve))
    this.#url = `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
    return this
  }

  /** What the next connections meet, after those that were given before. */
  add(...unkindness: readonly (Unkindness | null)[]): void {
    this.#unkindness.push(...unkindness)
  }

  /** Closes every connection as the service does to idle ones. */
  closeIdle(): void {
    for (const line of this.#lines) line.end(this.#service.idle)
  }

  /** Every connection is gone, and nobody is told. */
  breakAll(): void {
    for (const line of this.#lines) line.terminate()
  }

  async close(): Promise<void> {
    this.#closed = true
    this.breakAll()
    this.#server.closeAllConnections()
    await new Promise<void>(resolve => this.#server.close(() => resolve()))
  }

  #onUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => {})
    const connectMs = this.#options.delays?.connectMs ?? 0
    if (connectMs === 0) this.#accept(request, socket, head)
    else setTimeout(() => this.#accept(request, socket, head), connectMs)
  }

  #accept(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    if (this.#closed) return void socket.destroy()
    const url = new URL(request.url ?? '/', 'ws://localhost')
    const unkindness = this.#unkindness.shift() ?? null
    const scripted = unkindness?.type === 'refuse' ? this.#scripted(unkindness) : null
    const refusal = this.#lines.size >= MOST_CONNECTIONS ? this.#service.refusal(503) : scripted
    const answer = refusal ?? this.#service.check(url, request)
    if (answer !== null) {
      this.#counts.refused++
      socket.end(httpAnswer(answer))
      return
    }
    this.#sockets.handleUpgrade(request, socket, head, webSocket => {
      this.#counts.connections++
      this.#counts.open++
      let session: FakeSession | null = null
      const line = new FakeLine(webSocket, {
        unkindness,
        idleCloseMs: this.#options.idleCloseMs ?? this.#service.idleCloseMs,
        error: this.#service.error,
        idle: this.#service.idle,
        onText: text => session?.onText(text),
        onClose: () => {
          this.#counts.open--
          this.#lines.delete(line)
          session?.onClose()
        },
      })
      this.#lines.add(line)
      session = this.#service.session(line, url, this.#counts)
    })
  }

  #scripted({ status, retryAfterS }: Extract<Unkindness, { type: 'refuse' }>): FakeRefusal {
    const refusal = this.#service.refusal(status)
    if (retryAfterS === undefined) return refusal
    return { ...refusal, headers: { ...refusal.headers, 'Retry-After': String(retryAfterS) } }
  }
}

function httpAnswer({ status, body, headers = {} }: FakeRefusal): string {
  const lines = Object.entries({
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(body)),
    ...headers,
  })
  return `HTTP/1.1 ${status} No\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}Connection: close\r\n\r\n${body}`
}

/** The JSON object that a client sent; null for anything else. */
export function objectFrom(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null
  } catch {
    return null
  }
}
