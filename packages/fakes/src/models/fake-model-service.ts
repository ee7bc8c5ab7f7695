import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type Random, SeededRandom, systemTime, type Time } from '@parley/kernel'
import { closeServer, listenLocally } from '../local-server.ts'
import type { FakeDelays } from '../protocol.ts'
import { bodyOf } from '../request-body.ts'
import type { FakeModelDialect } from './model-dialect.ts'
import { type ModelUnkindness, stepsOf, type Think, unkindSteps } from './model-reply.ts'
import { answerWith, ModelServing } from './model-serving.ts'
import type { FakeModelStep, FakeStreamStyle } from './model-step.ts'

export interface FakeModelOptions<Style extends FakeStreamStyle = FakeStreamStyle> {
  /** 0: any free one, the default. */
  readonly port?: number
  /** Requests with another key are refused. Default: any key, or none. */
  readonly key?: string
  /** What requests without a script get. Default: one short sentence. */
  readonly otherwise?: readonly FakeModelStep[]
  /** Finds what requests without a script get, instead of `otherwise`. */
  readonly think?: Think
  /** Of what `think` finds: `firstMs`, `tokenMs`. Default none. */
  readonly delays?: FakeDelays
  readonly style?: Style
  /** For `wait`. Default the system's. */
  readonly time?: Time
  /** Of the places where writes are cut. Default 1. */
  readonly seed?: number
}

/** A request as it came. */
interface FakeModelRequest {
  readonly path: string
  readonly key: string | null
  /** The parsed body; null where it was no JSON object. */
  readonly body: Readonly<Record<string, unknown>> | null
}

const MOST_BODY_BYTES = 16_777_216
const MOST_REQUESTS_KEPT = 1000

/** The HTTP side of a fake model, on 127.0.0.1. For tests and load tests. */
export class FakeModelService {
  /** The newest 1000. */
  readonly requests: FakeModelRequest[] = []
  readonly #dialect: FakeModelDialect
  readonly #options: FakeModelOptions
  readonly #otherwise: readonly FakeModelStep[]
  readonly #server: Server
  readonly #random: Random
  readonly #scripts: (readonly FakeModelStep[])[] = []
  readonly #unkindness: ModelUnkindness[] = []
  #origin = ''
  #givenUp = 0
  #connections = 0
  #underWay = 0
  #mostAtOnce = 0
  #breaksKept = false
  #brokenKept = 0
  /** Connections that had a request before. */
  readonly #kept = new WeakSet<Socket>()

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
  get givenUp(): number {
    return this.#givenUp
  }

  /** Connections that were ever made. */
  get connections(): number {
    return this.#connections
  }

  /** No answer is under way. */
  get isIdle(): boolean {
    return this.#underWay === 0
  }

  /** Answers that were under way at a time. */
  get mostAtOnce(): number {
    return this.#mostAtOnce
  }

  /** Kept connections that `breakNextKept` closed. */
  get brokenKept(): number {
    return this.#brokenKept
  }

  /** For the next request that has none yet. */
  script(...steps: readonly FakeModelStep[]): void {
    this.#scripts.push(steps)
  }

  /** What the next requests without a script meet, one each; those after them are served. */
  beUnkind(...unkindness: readonly ModelUnkindness[]): void {
    this.#unkindness.push(...unkindness)
  }

  /** Breaks all connections off. */
  breakOff(): void {
    this.#server.closeAllConnections()
  }

  /** The next request that comes over a connection which was kept finds it closed, as if the service had just done so. */
  breakNextKept(): void {
    this.#breaksKept = true
  }

  close(): Promise<void> {
    return closeServer(this.#server)
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const isKept = this.#kept.has(request.socket)
    this.#kept.add(request.socket)
    if (isKept && this.#breaksKept) {
      this.#breaksKept = false
      this.#brokenKept++
      request.socket.destroy()
      return
    }
    this.#underWay++
    this.#mostAtOnce = Math.max(this.#mostAtOnce, this.#underWay)
    response.once('close', () => this.#underWay--)
    const body = jsonOf(await bodyOf(request, MOST_BODY_BYTES))
    const dialect = this.#dialect
    const key = dialect.keyOf(request.headers)
    const script = this.#scripts.shift()
    this.requests.push({ path: request.url ?? '', key, body })
    if (this.requests.length > MOST_REQUESTS_KEPT) this.requests.shift()
    if (this.#options.key !== undefined && key !== this.#options.key)
      return answerWith(response, dialect.refusal('key', key))
    if (request.method !== 'POST' || request.url !== dialect.path || body === null)
      return answerWith(response, dialect.refusal('path', key))
    const fault = dialect.faultOf(request.headers, body)
    if (fault !== null) return answerWith(response, fault)
    const { style = {}, time = systemTime } = this.#options
    const steps = script ?? (await this.#found(body))
    const serving = new ModelServing({
      response,
      answer: dialect.begin(body, steps),
      style,
      time,
      random: this.#random,
      refusal: why => dialect.refusal(why, key),
    })
    response.once('close', () => {
      if (serving.wasGivenUp) this.#givenUp++
    })
    await serving.play(steps)
  }

  /** For a request without a script. */
  async #found(body: Readonly<Record<string, unknown>>): Promise<readonly FakeModelStep[]> {
    const { think, delays = {} } = this.#options
    const { chat } = this.#dialect
    if (chat === null) return this.#otherwise
    const unkindness = this.#unkindness.shift()
    const steps = think === undefined ? this.#otherwise : stepsOf(await think(chat.askOf(body)), chat, delays)
    return unkindness === undefined ? steps : unkindSteps(unkindness, steps, chat)
  }
}

/** Null for what is neither an object nor a list. */
function jsonOf(text: string): FakeModelRequest['body'] {
  try {
    const body: unknown = JSON.parse(text)
    return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : null
  } catch {
    return null
  }
}
