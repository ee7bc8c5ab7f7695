import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { type Ms, type Random, randomBelow, SeededRandom, systemTime, type Time } from '@parley/kernel'
import { FakeAnswer } from './fake-answer.ts'
import type { FakeStep, FakeStyle } from './fake-step.ts'

export interface OpenAiFakeOptions {
  /** 0: any free one, the default. */
  readonly port?: number
  /** Requests with another key are refused. Default: any key, or none. */
  readonly key?: string
  /** What requests without a script get. Default: one short sentence. */
  readonly otherwise?: readonly FakeStep[]
  readonly style?: FakeStyle
  /** For `wait`. Default the system's. */
  readonly time?: Time
  /** Of the places where writes are cut. Default 1. */
  readonly seed?: number
}

/** A request as it came. */
export interface FakeRequest {
  readonly path: string
  readonly authorization: string | null
  /** The parsed body; null where it was no JSON object. */
  readonly body: Readonly<Record<string, unknown>> | null
}

const MOST_BODY_BYTES = 16_777_216
const MOST_REQUESTS_KEPT = 1000
const HELLO: readonly FakeStep[] = [
  { do: 'say', text: 'Hello from the fake.' },
  { do: 'finish', reason: 'stop' },
  { do: 'report-usage', input: 10, output: 5 },
]

/** A service on 127.0.0.1 that speaks like OpenAI's chat, with the unkindness it is told. For tests and load tests. */
export class OpenAiFake {
  /** The newest 1000. */
  readonly requests: FakeRequest[] = []
  readonly #server: Server
  readonly #options: OpenAiFakeOptions
  readonly #random: Random
  readonly #scripts: (readonly FakeStep[])[] = []
  #givenUp = 0
  #connections = 0
  #underWay = 0
  #breaksKept = false
  #brokenKept = 0
  /** Connections that had a request before. */
  readonly #kept = new WeakSet<Socket>()

  private constructor(options: OpenAiFakeOptions) {
    this.#options = options
    this.#random = new SeededRandom(options.seed ?? 1)
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch(() => response.destroy())
    })
    this.#server.on('connection', socket => {
      this.#connections++
      socket.setNoDelay(true)
    })
  }

  static async open(options: OpenAiFakeOptions = {}): Promise<OpenAiFake> {
    const fake = new OpenAiFake(options)
    await new Promise<void>((resolve, reject) => {
      fake.#server.once('error', reject)
      fake.#server.listen(options.port ?? 0, '127.0.0.1', resolve)
    })
    return fake
  }

  /** "http://127.0.0.1:PORT/v1". */
  get baseUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`
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

  /** Kept connections that `breakNextKept` closed. */
  get brokenKept(): number {
    return this.#brokenKept
  }

  /** For the next request that has none yet. */
  script(...steps: readonly FakeStep[]): void {
    this.#scripts.push(steps)
  }

  /** The next request that comes over a connection which was kept finds it closed, as if the service had just done so. */
  breakNextKept(): void {
    this.#breaksKept = true
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise<void>(resolve => this.#server.close(() => resolve()))
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
    response.once('close', () => this.#underWay--)
    const body = await bodyOf(request)
    const steps = this.#scripts.shift() ?? this.#options.otherwise ?? HELLO
    const authorization = request.headers.authorization ?? null
    this.requests.push({ path: request.url ?? '', authorization, body })
    if (this.requests.length > MOST_REQUESTS_KEPT) this.requests.shift()
    const { key } = this.#options
    if (key !== undefined && authorization !== `Bearer ${key}`) return refuse(response, authorization)
    if (request.method !== 'POST' || request.url !== '/v1/chat/completions' || body === null)
      return answer(response, 404, { error: { message: 'Unknown request URL', type: 'invalid_request_error' } })
    const serving = new Serving(response, this.#options, String(body.model), this.#random, authorization)
    response.once('close', () => {
      if (serving.wasGivenUp) this.#givenUp++
    })
    await serving.play(steps)
  }
}

/** The playing of one script. */
class Serving {
  readonly #response: ServerResponse
  readonly #style: FakeStyle
  readonly #time: Time
  readonly #random: Random
  readonly #answer: FakeAnswer
  readonly #authorization: string | null
  #hasBegun = false
  #isOver = false

  constructor(
    response: ServerResponse,
    { style = {}, time = systemTime }: OpenAiFakeOptions,
    model: string,
    random: Random,
    authorization: string | null,
  ) {
    this.#response = response
    this.#style = style
    this.#time = time
    this.#random = random
    this.#answer = new FakeAnswer(style, model)
    this.#authorization = authorization
  }

  get wasGivenUp(): boolean {
    return !this.#isOver
  }

  async play(steps: readonly FakeStep[]): Promise<void> {
    for (const step of steps) {
      if (this.#isOver || this.#response.destroyed) return
      await this.#take(step)
    }
    if (this.#isOver || this.#response.destroyed) return
    if (!this.#answer.isFinished) return this.#breakOff()
    if (this.#style.whole === true) {
      this.#isOver = true
      this.#response.writeHead(200, { 'content-type': 'application/json' }).end(this.#answer.document())
      return
    }
    await this.#write(this.#answer.done())
    this.#end()
  }

  async #take(step: FakeStep): Promise<void> {
    switch (step.do) {
      case 'wait':
        return this.#wait(step.ms)
      case 'stall':
        return this.#closed()
      case 'break-off':
        return this.#breakOff()
      case 'end':
        return this.#end()
      case 'turn-away':
        this.#isOver = true
        return answer(
          this.#response,
          429,
          { error: { message: 'Rate limit reached', type: 'requests', code: 'rate_limit_exceeded' } },
          step.retryAfter === undefined ? {} : { 'retry-after': step.retryAfter },
        )
      case 'refuse':
        this.#isOver = true
        return refuse(this.#response, this.#authorization)
      case 'answer':
        this.#isOver = true
        this.#response.writeHead(step.status, step.headers).end(step.body)
        return
      default: {
        const lines = this.#answer.lines(step)
        if (this.#style.whole !== true || step.do === 'write') await this.#write(lines)
      }
    }
  }

  #breakOff(): void {
    this.#isOver = true
    this.#response.destroy()
  }

  #end(): void {
    this.#begin()
    this.#isOver = true
    this.#response.end()
  }

  #begin(): void {
    if (this.#hasBegun) return
    this.#hasBegun = true
    this.#response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
  }

  /** Each piece leaves by itself, and has left when this resolves. */
  async #write(text: string): Promise<void> {
    this.#begin()
    const bytes = Buffer.from(text, 'utf8')
    for (let at = 0; at < bytes.length && !this.#response.destroyed; ) {
      const { pieces } = this.#style
      const length = pieces === undefined ? bytes.length : 1 + randomBelow(this.#random, pieces)
      const piece = bytes.subarray(at, at + length)
      await new Promise<void>(resolve => this.#response.write(piece, () => resolve()))
      at += length
    }
  }

  async #wait(ms: Ms): Promise<void> {
    const waited = new Promise<void>(resolve => this.#time.at(this.#time.now() + ms, resolve))
    await Promise.race([waited, this.#closed()])
  }

  #closed(): Promise<void> {
    if (this.#response.destroyed) return Promise.resolve()
    return new Promise(resolve => this.#response.once('close', resolve))
  }
}

function answer(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}

function refuse(response: ServerResponse, authorization: string | null): void {
  const message = `Incorrect API key provided: ${authorization?.replace('Bearer ', '') ?? 'none'}.`
  answer(response, 401, { error: { message, type: 'invalid_request_error', code: 'invalid_api_key' } })
}

async function bodyOf(request: IncomingMessage): Promise<FakeRequest['body']> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > MOST_BODY_BYTES) throw new Error('The request is too long.')
    chunks.push(chunk)
  }
  try {
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'))
    return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : null
  } catch {
    return null
  }
}
