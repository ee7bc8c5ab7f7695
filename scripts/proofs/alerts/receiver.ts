import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A notification as the receiver got it. */
interface Arrival {
  /** `/hook/<name>`, `/chat/<name>` or `/paging`. */
  readonly path: string
  /** Of webhooks and pages; null in chat messages. */
  readonly deliveryId: string | null
}

/** Receives notifications on loopback and answers 200, late or never where it is told to. */
export class Receiver {
  readonly arrivals: Arrival[] = []
  /** Milliseconds until the answer, by path; null: never. */
  readonly delays = new Map<string, number | null>()
  readonly #server: Server

  private constructor(server: Server) {
    this.#server = server
    server.on('request', (request, response) => void this.#receive(request, response))
  }

  static async open(): Promise<Receiver> {
    const server = createServer()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new Receiver(server)
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** Arrivals at this path, or with this delivery id. */
  count(of: string): number {
    return this.arrivals.filter(({ path, deliveryId }) => path === of || deliveryId === of).length
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => {})
    try {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const body = JSON.parse(Buffer.concat(chunks).toString('utf8'))
      const path = request.url ?? ''
      this.arrivals.push({ path, deliveryId: body.event_id ?? body.dedup_key ?? null })
      const delay = this.delays.get(path) ?? (this.delays.has(path) ? null : 0)
      if (delay !== null) setTimeout(() => response.writeHead(200).end(), delay)
    } catch {
      response.destroy()
    }
  }
}
