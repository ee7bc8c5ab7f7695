import { createServer, type IncomingMessage, request, type Server } from 'node:http'
import { connect, createServer as createTcpServer, type Socket, type Server as TcpServer } from 'node:net'
import type { Duplex } from 'node:stream'
import { closeServer, listenLocally } from './local-server.ts'

const HOST = '127.0.0.1'

/** The first bytes of a connection of HTTP/2 (RFC 9113 section 3.4). */
const HTTP2_PREFACE = 'PRI * HTTP/2.0'

/** One address for several fakes of one vendor: forwards requests and sockets by their path. */
export class PathRouter {
  readonly #server: Server
  /** Forwards connections of HTTP/2; null: there is no fake for them. */
  readonly #front: TcpServer | null
  readonly #ports: ReadonlyMap<string, number>
  readonly #sockets = new Set<Duplex>()
  #httpPort = 0
  #port = 0

  private constructor(ports: ReadonlyMap<string, number>, http2Port: number | null) {
    this.#ports = ports
    this.#server = createServer((incoming, response) => {
      const port = this.#portOf(incoming)
      if (port === null) return void response.writeHead(404).end()
      const { method, url, headers } = incoming
      const onward = request({ host: HOST, port, method, path: url, headers }, answer => {
        response.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(response)
        answer.on('close', () => {
          if (!answer.complete) response.destroy()
        })
      })
      onward.on('error', () => response.destroy())
      response.on('close', () => onward.destroy())
      incoming.pipe(onward)
    })
    this.#front = http2Port === null ? null : createTcpServer(socket => this.#forward(socket, http2Port))
    this.#server.on('upgrade', (incoming, socket, head) => this.#upgrade(incoming, socket, head))
  }

  /** `targets`: URL of each fake by the prefix of its paths. `http2`: URL of the fake that gets all connections of HTTP/2. */
  static async open(
    targets: Readonly<Record<string, string>>,
    { http2 }: { readonly http2?: string } = {},
  ): Promise<PathRouter> {
    const portOf = (url: string) => Number(new URL(url).port)
    const ports = new Map(Object.entries(targets).map(([path, url]) => [path, portOf(url)]))
    const router = new PathRouter(ports, http2 === undefined ? null : portOf(http2))
    router.#httpPort = await listenLocally(router.#server)
    router.#port = router.#front === null ? router.#httpPort : await listenLocally(router.#front)
    return router
  }

  get port(): number {
    return this.#port
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    this.#front?.close()
    await closeServer(this.#server)
  }

  #portOf({ url }: IncomingMessage): number | null {
    for (const [path, port] of this.#ports) if (url?.startsWith(path)) return port
    return null
  }

  #forward(socket: Socket, http2Port: number): void {
    socket.on('error', () => socket.destroy())
    socket.once('data', first => {
      const isHttp2 = Buffer.from(first).toString('latin1').startsWith(HTTP2_PREFACE)
      const onward = connect(isHttp2 ? http2Port : this.#httpPort, HOST)
      this.#join(socket, onward)
      onward.write(first)
      onward.pipe(socket)
      socket.pipe(onward)
    })
  }

  /** Forwards the handshake unchanged, and all bytes after it. */
  #upgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): void {
    const port = this.#portOf(incoming)
    if (port === null) return void socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n')
    const onward: Socket = connect(port, HOST)
    this.#join(socket, onward)
    const lines = [`${incoming.method} ${incoming.url} HTTP/1.1`]
    for (let i = 0; i < incoming.rawHeaders.length; i += 2)
      lines.push(`${incoming.rawHeaders[i]}: ${incoming.rawHeaders[i + 1]}`)
    onward.write(`${lines.join('\r\n')}\r\n\r\n`)
    onward.write(head)
    onward.pipe(socket)
    socket.pipe(onward)
  }

  #join(one: Duplex, other: Duplex): void {
    for (const [socket, peer] of [
      [one, other],
      [other, one],
    ] as const) {
      this.#sockets.add(socket)
      socket.on('error', () => peer.destroy())
      socket.on('close', () => {
        this.#sockets.delete(socket)
        peer.destroy()
      })
    }
  }
}
