import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type Random, SeededRandom, systemTime, type Time } from '@parley/kernel'
import { closeServer, listenLocally } from '../local-server.ts'
import type { FakeDelays } from '../protocol.ts'
import { bodyOf } from '../request-body.ts'
import type { FakeModelDialect } from './model-dialect.ts'
import { type ModelFault, type Respond, stepsOf, stepsWithFault } from './model-reply.ts'
import { answerWith, ModelServing } from './model-serving.ts'
import type { FakeModelStep, FakeStreamStyle } from './model-step.ts'

export interface FakeModelOptions<Style extends FakeStreamStyle = FakeStreamStyle> {
  /** Default 0: any free port. */
  readonly port?: number
  /** Requests with another key are refused. Default: any key, or none. */
  readonly key?: string
  /** The answer to requests without a script. Default: one short sentence. */
  readonly otherwise?: readonly FakeModelStep[]
  /** Produces the answer to requests without a script, instead of `otherwise`. */
  readonly respond?: Respond
  /** Delays of the answers of `respond`: `firstMs`, `tokenMs`. Default none. */
  readonly delays?: FakeDelays
  readonly style?: Style
  /** Clock of the step `wait`. Default the system's. */
  readonly time?: Time
  /** Seed of the random places at which writes are split. Default 1. */
  readonly seed?: number
}

/** A recorded request. */
interface FakeModelRequest {
  readonly path: string
  readonly key: string | null
  /** The parsed body; null when it is not JSON, or neither an object nor a list. */
  readonly body: Readonly<Record<string, unknown>> | null
}

const MAX_BODY_BYTES = 16_777_216
const MAX_LOGGED_REQUESTS = 1000

/** The HTTP side of a fake model, on 127.0.0.1. For tests and load tests. */
export class FakeModelService {
  /** The last 1000 requests. */
  readonly requests: FakeModelRequest[] = []
  readonly #dialect: FakeModelDialect
  readonly #options: FakeModelOptions
  readonly #otherwise: readonly FakeModelStep[]
  readonly #server: Server
  readonly #random: Random
  readonly #scripts: (readonly FakeModelStep[])[] = []
  readonly #faults: ModelFault[] = []
  #origin = ''
  #abandoned = 0
  #connections = 0
  #running = 0
  #maxConcurrent = 0
  #breaksNextReused = false
  #brokenReused = 0
  /** Connections that carried a request before. */
  readonly #reused = new WeakSet<Socket>()

  protected constructor(dialect: FakeModelDialect, options: FakeModelOptions, hello: readonly FakeModelStep[]) {
    this.#dialect = dialect
    this.#options = options
    this.#otherwise = options.otherwise ?? hello
    this.#random = new SeededRandom(options.seed ?? 1)
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch(() => response.destroy())
    })
    this.#server.on('connection', socket => {
      this.#connections++
      socket.setNoDelay(true)
    })
  }

  protected async listen(): Promise<this> {
    this.#origin = `http://127.0.0.1:${await listenLocally(this.#server, this.#options.port)}`
    return this
  }

  /** "http://127.0.0.1:PORT". */
  get origin(): string {
    return this.#origin
  }

  /** Requests whose connection the client closed before their answer was complete. */
  get abandoned(): number {
    return this.#abandoned
  }

  /** Connections accepted so far. */
  get connections(): number {
    return this.#connections
  }

  /** True when no answer is being written. */
  get isIdle(): boolean {
    return this.#running === 0
  }

  /** The most answers that were being written at the same time. */
  get maxConcurrent(): number {
    return this.#maxConcurrent
  }

  /** Reused connections that `breakNextReused` closed. */
  get brokenReused(): number {
    return this.#brokenReused
  }

  /** Scripts the answer to the next request that has no script yet. */
  script(...steps: readonly FakeModelStep[]): void {
    this.#scripts.push(steps)
  }

  /** Faults of the next requests without a script, one each; requests after them are served. */
  injectFaults(...faults: readonly ModelFault[]): void {
    this.#faults.push(...faults)
  }

  /** Closes all connections at once. */
  breakOff(): void {
    this.#server.closeAllConnections()
  }

  /** Closes the next connection on which a second request arrives, as if the service had just closed it. */
  breakNextReused(): void {
    this.#breaksNextReused = true
  }

  close(): Promise<void> {
    return closeServer(this.#server)
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const isReused = this.#reused.has(request.socket)
    this.#reused.add(request.socket)
    if (isReused && this.#breaksNextReused) {
      this.#breaksNextReused = false
      this.#brokenReused++
      request.socket.destroy()
      return
    }
    // A client opens a connection ahead by an empty request.
    if (request.method === 'OPTIONS') return void response.writeHead(404).end()
    this.#running++
    this.#maxConcurrent = Math.max(this.#maxConcurrent, this.#running)
    response.once('close', () => this.#running--)
    const body = jsonOf(await bodyOf(request, MAX_BODY_BYTES))
    const dialect = this.#dialect
    const key = dialect.keyOf(request.headers)
    const script = this.#scripts.shift()
    this.requests.push({ path: request.url ?? '', key, body })
    if (this.requests.length > MAX_LOGGED_REQUESTS) this.requests.shift()
    if (this.#options.key !== undefined && key !== this.#options.key)
      return answerWith(response, dialect.refusal('key', key))
    if (request.method === 'GET' && /\/models(\?|$)/.test(request.url ?? ''))
      return answerWith(response, {
        status: 200,
        body: { object: 'list', data: [{ id: 'fake-model', object: 'model' }] },
      })
    const { url = '' } = request
    const isServed = typeof dialect.path === 'string' ? url === dialect.path : dialect.path.test(url)
    if (request.method !== 'POST' || !isServed || body === null)
      return answerWith(response, dialect.refusal('path', key))
    const fault = dialect.faultOf(request.headers, body, url)
    if (fault !== null) return answerWith(response, fault)
    const { style = {}, time = systemTime } = this.#options
    const steps = script ?? (await this.#stepsFor(body))
    const serving = new ModelServing({
      response,
      answer: dialect.begin(body, steps, url),
      style,
      time,
      random: this.#random,
      refusal: why => dialect.refusal(why, key),
    })
    response.once('close', () => {
      if (serving.wasAbandoned) this.#abandoned++
    })
    await serving.play(steps)
  }

  /** The steps of the answer to a request without a script. */
  async #stepsFor(body: Readonly<Record<string, unknown>>): Promise<readonly FakeModelStep[]> {
    const { respond, delays = {} } = this.#options
    const { chat } = this.#dialect
    if (chat === null) return this.#otherwise
    const fault = this.#faults.shift()
    const steps = respond === undefined ? this.#otherwise : stepsOf(await respond(chat.readRequest(body)), chat, delays)
    return fault === undefined ? steps : stepsWithFault(fault, steps, chat)
  }
}

/** Parses a JSON object or list; null for any other text. */
function jsonOf(text: string): FakeModelRequest['body'] {
  try {
    const body: unknown = JSON.parse(text)
    return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : null
  } catch {
    return null
  }
}
