import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

interface ReceivedAlert {
  readonly path: string
  readonly signature: string | undefined
  readonly text: string
  readonly body: unknown
}

/** A receiver of chat messages, paging events and alert webhooks on loopback. */
export class AlertReceiver {
  readonly received: ReceivedAlert[] = []
  /** Status of the answer; null: the connection is cut; a promise: later. */
  answer: (alert: ReceivedAlert) => number | null | Promise<number | null> = () => 200
  readonly #server: Server

  private constructor(server: Server) {
    this.#server = server
  }

  static async start(): Promise<AlertReceiver> {
    const server = createServer()
    const receiver = new AlertReceiver(server)
    server.on('request', async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const text = Buffer.concat(chunks).toString('utf8')
      const signature = request.headers['parley-signature']
      const alert = { path: request.url ?? '', signature: signature?.toString(), text, body: JSON.parse(text) }
      receiver.received.push(alert)
      const status = await receiver.answer(alert)
      if (status === null) response.destroy()
      else response.writeHead(status).end('thanks')
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return receiver
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  url(path: string): string {
    return `http://127.0.0.1:${this.port}${path}`
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }
}
