import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { Ms } from '@parley/kernel'

/** A request that the server received. */
interface ActionRequestReceived {
  readonly method: string
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** Parsed JSON; null without a body. */
  readonly body: unknown
}

interface ActionAnswer {
  /** Default 200. */
  readonly status?: number
  readonly body: unknown
  /** Default 0. */
  readonly afterMs?: Ms
}

/** Responses by path, such as "/orders". */
export type ActionAnswers = Readonly<Record<string, (request: ActionRequestReceived) => ActionAnswer>>

/** HTTP server for the actions of agents under test, on 127.0.0.1; records every request. */
export class ActionServer {
  /** `http://127.0.0.1:PORT` */
  readonly origin: string
  readonly received: readonly ActionRequestReceived[]
  readonly #server: Server

  private constructor(server: Server, received: readonly ActionRequestReceived[]) {
    this.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    this.received = received
    this.#server = server
  }

  static async open(answers: ActionAnswers): Promise<ActionServer> {
    const received: ActionRequestReceived[] = []
    const server = createServer((message, response) => {
      // A client that disconnects during its request gets no response.
      respond(message, response, answers, received).catch(() => response.destroy())
    })
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve))
    return new ActionServer(server, received)
  }

  /** Requests for `path`, the oldest first. */
  to(path: string): ActionRequestReceived[] {
    return this.received.filter(request => request.path === path)
  }

  async close(): Promise<void> {
    const closed = new Promise<void>(resolve => this.#server.close(() => resolve()))
    this.#server.closeAllConnections()
    await closed
  }
}

async function respond(
  message: IncomingMessage,
  response: ServerResponse,
  answers: ActionAnswers,
  received: ActionRequestReceived[],
): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of message) chunks.push(chunk as Buffer)
  const url = new URL(message.url ?? '/', 'http://127.0.0.1')
  const text = Buffer.concat(chunks).toString('utf8')
  const request: ActionRequestReceived = {
    method: message.method ?? '',
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    headers: message.headers,
    body: text === '' ? null : JSON.parse(text),
  }
  received.push(request)
  const { status = 200, body, afterMs = 0 } = answers[url.pathname]?.(request) ?? { status: 404, body: {} }
  await pause(afterMs)
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}
