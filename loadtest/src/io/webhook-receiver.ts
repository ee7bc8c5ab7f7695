import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { z } from 'zod'
import { LoadtestError } from '../errors.ts'
import { AnswerScript, type AnswerStep, answerScripts } from '../webhook/answer-script.ts'
import { checkSignature } from '../webhook/parley-signature.ts'
import type { WebhookEntry } from '../webhook/webhook-entry.ts'
import { WebhookQueries } from '../webhook/webhook-queries.ts'
import { JsonLinesFile, readJsonLines } from './json-lines-file.ts'

export const webhookReceiverConfig = z.strictObject({
  /** Address to listen on; default 127.0.0.1. */
  bind: z.union([z.ipv4(), z.ipv6()]).default('127.0.0.1'),
  /** Default 0: any free one. */
  port: z.int().min(0).max(65_535).default(0),
  /** Secrets; a signature under any of them is valid. */
  secrets: z.array(z.string().min(1).max(16_384)).max(16),
  /** How far the time of a signature may be from now; default 300 s. */
  toleranceS: z.number().min(0).max(86_400).default(300),
  answers: answerScripts.default({}),
  /** JSON lines file that gets every row; default: none. */
  ledgerFile: z.string().min(1).optional(),
  /** Rows kept in memory for queries; default 100,000. */
  keepRows: z.int().min(0).max(1_000_000).default(100_000),
})

export type WebhookReceiverOptions = z.input<typeof webhookReceiverConfig>

type Config = z.output<typeof webhookReceiverConfig>

/** Longer bodies are answered 413 and not recorded. */
const LONGEST_BODY = 4 << 20
const MAX_CONNECTIONS = 2000
const REQUEST_TIMEOUT_MS = 30_000

/** A webhook receiver: records every request, checks its signature, and answers by script. */
export class WebhookReceiver {
  readonly #config: Config
  readonly #server: Server
  readonly #script: AnswerScript
  readonly #file: JsonLinesFile | null
  readonly #entries: WebhookEntry[] = []
  readonly #startedAt = performance.now()
  readonly #delayed = new Set<NodeJS.Timeout>()
  #overflowed = 0
  #secrets: readonly string[]

  private constructor(config: Config) {
    this.#config = config
    this.#secrets = config.secrets
    this.#script = new AnswerScript(config.answers)
    this.#file = config.ledgerFile === undefined ? null : new JsonLinesFile(config.ledgerFile)
    this.#server = createServer(
      { requestTimeout: REQUEST_TIMEOUT_MS, headersTimeout: REQUEST_TIMEOUT_MS },
      (request, response) => this.#receive(request, response),
    )
    this.#server.maxConnections = MAX_CONNECTIONS
    this.#server.on('clientError', (_error, socket) => socket.destroy())
  }

  /** Rejects with ZodError for invalid options, "listen_failed", or as the ledger's file does. */
  static async open(options: WebhookReceiverOptions): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver(webhookReceiverConfig.parse(options))
    const { bind, port } = receiver.#config
    await new Promise<void>((resolve, reject) => {
      receiver.#server.once('error', cause => {
        receiver.#file?.close()
        reject(new LoadtestError('listen_failed', `cannot listen on ${bind}:${port}`, { cause }))
      })
      receiver.#server.listen(port, bind, resolve)
    })
    return receiver
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** Base URL for webhooks. */
  get url(): string {
    const { bind } = this.#config
    return `http://${bind.includes(':') ? `[${bind}]` : bind}:${this.port}`
  }

  /** Replaces the secrets, as an integrator does during a rotation. */
  rotate(secrets: readonly string[]): void {
    this.#secrets = secrets
  }

  get entries(): readonly WebhookEntry[] {
    return this.#entries
  }

  /** Queries over the recorded requests. Throws RangeError if some rows are not in memory: read the file instead. */
  query(): WebhookQueries {
    if (this.#overflowed > 0)
      throw new RangeError(`${this.#overflowed} rows are only in the ledger's file; query the file instead`)
    return new WebhookQueries(this.#entries)
  }

  /** Cuts every connection, answered or not. Idempotent. */
  async close(): Promise<void> {
    for (const timer of this.#delayed) clearTimeout(timer)
    const closed = new Promise<void>(resolve => this.#server.close(() => resolve()))
    this.#server.closeAllConnections()
    await closed
    this.#file?.close()
  }

  #receive(request: IncomingMessage, response: ServerResponse): void {
    const chunks: Buffer[] = []
    let length = 0
    request.on('error', () => {})
    response.on('error', () => {})
    request.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length <= LONGEST_BODY) chunks.push(chunk)
      else if (!response.headersSent) response.writeHead(413, { connection: 'close' }).end()
    })
    request.on('end', () => {
      if (length > LONGEST_BODY) return
      try {
        this.#answer(response, this.#note(request, Buffer.concat(chunks)))
      } catch (error) {
        // The ledger's disk is full, so the sender must retry.
        console.error(String(error))
        response.writeHead(507).end()
      }
    })
  }

  #note(request: IncomingMessage, body: Buffer): AnswerStep {
    const [path = '/'] = (request.url ?? '/').split('?')
    const step = this.#script.next(path)
    const wall = Date.now()
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [
        name,
        Array.isArray(value) ? value.join(', ') : (value ?? ''),
      ]),
    )
    const { verdict, secret } = checkSignature(headers['parley-signature'], body, {
      secrets: this.#secrets,
      nowMs: wall,
      toleranceS: this.#config.toleranceS,
    })
    const text = body.toString('utf8')
    const isText = Buffer.from(text, 'utf8').equals(body)
    const entry: WebhookEntry = {
      at_ms: performance.now() - this.#startedAt,
      wall_ms: wall,
      method: request.method ?? '',
      path,
      headers,
      body: isText ? text : body.toString('base64'),
      encoding: isText ? 'utf8' : 'base64',
      signature: verdict,
      secret,
      ...saidBy(text),
      answer: step.answer === 'drop' ? null : step.answer,
    }
    this.#file?.append(entry)
    if (this.#entries.length < this.#config.keepRows) this.#entries.push(entry)
    else this.#overflowed++
    return step
  }

  #answer(response: ServerResponse, { answer, afterMs, retryAfterS }: AnswerStep): void {
    const send = () => {
      if (answer === 'drop') response.destroy()
      else response.writeHead(answer, retryAfterS === undefined ? {} : { 'retry-after': String(retryAfterS) }).end()
    }
    if (afterMs === 0) return send()
    const timer = setTimeout(() => {
      this.#delayed.delete(timer)
      send()
    }, afterMs)
    this.#delayed.add(timer)
    response.on('close', () => {
      clearTimeout(timer)
      this.#delayed.delete(timer)
    })
  }
}

type SideEffects = Pick<WebhookEntry, 'event' | 'event_id' | 'run_id' | 'occurred_at'>

/** Facts in the body of an agent webhook; null for other bodies. */
function saidBy(body: string): SideEffects {
  const said = z
    .object({
      event: z.string().nullable().catch(null),
      event_id: z.string().nullable().catch(null),
      occurred_at: z.string().nullable().catch(null),
      run: z.object({ run_id: z.string() }).nullable().catch(null),
    })
    .nullable()
    .catch(null)
  let value: unknown = null
  try {
    value = JSON.parse(body)
  } catch {
    // Not JSON: no facts.
  }
  const { event = null, event_id = null, occurred_at = null, run = null } = said.parse(value) ?? {}
  return { event, event_id, occurred_at, run_id: run?.run_id ?? null }
}

/** Queries over the ledger file of a receiver process. */
export async function readWebhookLedger(path: string): Promise<WebhookQueries> {
  const entries: WebhookEntry[] = []
  for await (const row of readJsonLines(path)) entries.push(row as WebhookEntry)
  return new WebhookQueries(entries)
}
