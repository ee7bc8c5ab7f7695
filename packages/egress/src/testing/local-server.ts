import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'

/** A request as it was received. */
interface ReceivedRequest {
  readonly method: string
  readonly path: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** Number of the connection, counted from 1. */
  readonly connection: number
}

export interface LocalServerOptions {
  /** Default 127.0.0.1. */
  readonly address?: string
  /** Default: any free port. */
  readonly port?: number
  /** PEM of key and certificate; without it the server uses plain TCP. */
  readonly tls?: string
}

/** Writes any bytes to the socket at any time. */
export type Answerer = (request: ReceivedRequest, socket: Socket) => void

/** A server on loopback whose answers are raw bytes, so that tests can send invalid ones. */
export class LocalServer {
  /** All requests so far, in order of arrival. */
  readonly requests: ReceivedRequest[] = []
  /** Connections accepted so far, after TLS. */
  connections = 0
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  readonly #waiting: { count: number; resolve: () => void }[] = []

  private constructor(server: Server) {
    this.#server = server
  }

  static async start(answer: Answerer, options: LocalServerOptions = {}): Promise<LocalServer> {
    const { tls, address = '127.0.0.1', port = 0 } = options
    const server = tls === undefined ? createServer() : createTlsServer({ key: tls, cert: tls })
    const local = new LocalServer(server)
    server.on(tls === undefined ? 'connection' : 'secureConnection', (socket: Socket) => local.#accept(socket, answer))
    server.listen(port, address)
    await once(server, 'listening')
    return local
  }

  get port(): number {
    const address = this.#server.address()
    if (address === null || typeof address === 'string') throw new Error('the server is closed and has no port')
    return address.port
  }

  /** Connections that are open now. */
  get open(): number {
    return this.#sockets.size
  }

  /** Resolves when `count` requests were received in all. */
  async received(count: number): Promise<void> {
    if (this.requests.length < count) await new Promise<void>(resolve => this.#waiting.push({ count, resolve }))
  }

  /** Resolves when no connection is open. */
  async allClosed(): Promise<void> {
    // `once` of node:events would reject at a reset.
    for (const socket of this.#sockets) await new Promise(resolve => socket.once('close', resolve))
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #accept(socket: Socket, answer: Answerer): void {
    const connection = ++this.connections
    this.#sockets.add(socket)
    socket.on('close', () => this.#sockets.delete(socket))
    socket.on('error', () => {})
    let pending = Buffer.alloc(0)
    socket.on('data', chunk => {
      pending = Buffer.concat([pending, chunk])
      for (let request = requestIn(pending); request !== undefined; request = requestIn(pending)) {
        pending = pending.subarray(request.length)
        const received = { ...request.received, connection }
        this.requests.push(received)
        for (const { count, resolve } of this.#waiting) if (this.requests.length >= count) resolve()
        answer(received, socket)
      }
    })
  }
}

function requestIn(bytes: Buffer): { received: Omit<ReceivedRequest, 'connection'>; length: number } | undefined {
  const end = bytes.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const [line = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n')
  const [method = '', path = ''] = line.split(' ')
  const headers = Object.fromEntries(
    lines.map(text => [text.slice(0, text.indexOf(':')).toLowerCase(), text.slice(text.indexOf(':') + 1).trim()]),
  )
  const length = end + 4 + Number(headers['content-length'] ?? 0)
  if (bytes.length < length) return undefined
  return { received: { method, path, headers, body: bytes.subarray(end + 4, length).toString('utf8') }, length }
}

/** A complete answer, as bytes. */
export function answerBytes(status: number, body: string | Uint8Array = '', headers: readonly string[] = []): Buffer {
  const content = Buffer.from(body)
  const head = [`HTTP/1.1 ${status} Word`, ...headers, `Content-Length: ${content.length}`, '', '']
  return Buffer.concat([Buffer.from(head.join('\r\n'), 'latin1'), content])
}

/** Answers every request in the same way. */
export function always(status: number, body: string | Uint8Array = '', headers: readonly string[] = []): Answerer {
  return (_, socket) => socket.write(answerBytes(status, body, headers))
}
