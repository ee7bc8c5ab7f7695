import { createServer, type IncomingMessage, request, type Server } from 'node:http'
import { connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { closeServer, listenLocally } from './local-server.ts'

const HOST = '127.0.0.1'

/** One address for several fakes of one vendor: forwards requests and sockets by their path. */
export class PathRouter {
  readonly #server: Server
  readonly #ports: ReadonlyMap<string, number>
  readonly #sockets = new Set<Duplex>()
  #port = 0

  private constructor(ports: ReadonlyMap<string, number>) {
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
    this.#server.on('upgrade', (incoming, socket, head) => this.#upgrade(incoming, socket, head))
  }

  /** `targets`: URL of each fake by the prefix of its paths. */
  static async open(targets: Readonly<Record<string, string>>): Promise<PathRouter> {
    const ports = new Map(Object.entries(targets).map(([path, url]) => [path, Number(new URL(url).port)]))
    const router = new PathRouter(ports)
    router.#port = await listenLocally(router.#server)
    return router
  }

  get port(): number {
    return this.#port
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await closeServer(this.#server)
  }

  #portOf({ url }: IncomingMessage): number | null {
    for (const [path, port] of this.#ports) if (url?.startsWith(path)) return port
    return null
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
