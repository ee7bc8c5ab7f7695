import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

interface ReceivedHook {
  readonly path: string
  readonly signature: string
  readonly traceparent: string
  readonly body: string
  /** From the body. */
  readonly event: string
  readonly runId: string
}

/** What a hook is answered: a status, null: the connection is cut, a promise: when it says so. */
type HookAnswer = number | null | Promise<number>

/** Somebody's server for webhooks, on loopback, which writes down what it hears. */
export class HookServer {
  readonly received: ReceivedHook[] = []
  readonly #server: Server
  answer: (hook: ReceivedHook) => HookAnswer = () => 200
  /** The Location of its answers. */
  location: string | null = null

  private constructor(server: Server) {
    this.#server = server
  }

  static async start(): Promise<HookServer> {
    const server = createServer()
    const hooks = new HookServer(server)
    server.on('request', async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const body = Buffer.concat(chunks).toString('utf8')
      const { event, run } = JSON.parse(body) as { event: string; run: { run_id: string } }
      const signature = String(request.headers['parley-signature'])
      const traceparent = String(request.headers.traceparent)
      const hook = { path: request.url ?? '', signature, traceparent, body, event, runId: run.run_id }
      hooks.received.push(hook)
      const status = await hooks.answer(hook)
      if (status === null) response.destroy()
      else response.writeHead(status, hooks.location === null ? {} : { location: hooks.location }).end('thanks')
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return hooks
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/hook`
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }
}
