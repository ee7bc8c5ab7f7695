import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Random, randomBelow } from '@parley/kernel'

/** Bytes of a stream that are forwarded before it is cut. */
const MIN_BYTES = 1
const MAX_BYTES = 1500

interface StreamProxyOptions {
  /** Chooses the moments of the cuts; null: no stream is cut. */
  readonly cuts: Random | null
  /** Added to each `Last-Event-ID`: -1 resumes one event too early, 1 one too late. Default 0. */
  readonly shift?: -1 | 0 | 1
}

/** An HTTP proxy to the API that cuts event streams after a random number of bytes, also within an event. */
export class StreamProxy {
  /** Base URL of the API; null: the API is down, and connections are closed. */
  target: string | null
  /** Number of cut streams, and of those that were cut within an event. */
  cuts = 0
  cutsWithinEvents = 0
  /** Streams that were resumed after an event. */
  resumed = 0
  readonly #server: Server
  readonly #options: StreamProxyOptions

  private constructor(target: string, options: StreamProxyOptions) {
    this.target = target
    this.#options = options
    this.#server = createServer((incoming, answer) => this.#forward(incoming, answer))
  }

  static async open(target: string, options: StreamProxyOptions): Promise<StreamProxy> {
    const proxy = new StreamProxy(target, options)
    proxy.#server.listen(0, '127.0.0.1')
    await once(proxy.#server, 'listening')
    return proxy
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #forward(incoming: IncomingMessage, answer: ServerResponse): void {
    const isStream = incoming.url?.endsWith('/events') === true
    if (this.target === null) return void incoming.socket.destroy()
    const headers = { ...incoming.headers, ...(isStream && this.#resume(incoming)) }
    const upstream = request(`${this.target}${incoming.url}`, { method: incoming.method, headers, agent: false })
    const end = () => {
      upstream.destroy()
      incoming.socket.destroy()
    }
    upstream.on('error', end)
    answer.on('close', () => upstream.destroy())
    upstream.on('response', response => {
      response.on('error', end)
      answer.writeHead(response.statusCode!, response.headers)
      if (isStream && response.statusCode === 200 && this.#options.cuts !== null) this.#cut(response, answer, end)
      else response.on('data', piece => answer.write(piece)).on('end', () => answer.end())
    })
    incoming.on('error', end).pipe(upstream)
  }

  #resume({ headers }: IncomingMessage): Record<string, string> {
    const last = headers['last-event-id']
    if (typeof last !== 'string' || last === '') return {}
    this.resumed++
    return { 'last-event-id': String(Number(last) + (this.#options.shift ?? 0)) }
  }

  #cut(response: IncomingMessage, answer: ServerResponse, end: () => void): void {
    let left = MIN_BYTES + randomBelow(this.#options.cuts!, MAX_BYTES)
    let tail = ''
    response.on('data', (piece: Buffer) => {
      const passed = piece.subarray(0, left)
      left -= passed.length
      tail = (tail + passed.toString('latin1')).slice(-2)
      if (left > 0) return void answer.write(passed)
      this.cuts++
      if (tail !== '\n\n') this.cutsWithinEvents++
      // The connection is closed after the last bytes were sent.
      answer.write(passed, end)
      left = Number.POSITIVE_INFINITY
      response.pause()
    })
    response.on('end', () => answer.end())
  }
}
