import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { UnixMs } from '@parley/kernel'
import { type Booking, type Callback, Clinic } from '../clinic/clinic.ts'
import type { Pizza } from '../pizza/menu.ts'
import { type Order, Pizzeria } from '../pizza/pizzeria.ts'
import type { Service, ServiceAnswer } from '../service/service.ts'
import { type ReceivedEvent, WebhookInbox } from '../webhooks/webhook-inbox.ts'

const MAX_BODY_BYTES = 16_384
/** A webhook carries the whole run, with up to 100 variables and 16 KiB of metadata. */
const MAX_WEBHOOK_BYTES = 1_048_576
const MAX_HEADER_BYTES = 8192
const MAX_CONNECTIONS = 200
const REQUEST_TIMEOUT_MS = 5000

export interface ExampleServerOptions {
  /** Default 0: any free port. */
  readonly port?: number
  /** Wall clock for free days and the age of orders; default the system's. */
  readonly wallClock?: () => UnixMs
  /** How many patients of the clinic may book the same time; default 1. */
  readonly doctors?: number
  /** Sold-out pizzas; default none. */
  readonly soldOut?: readonly Pizza[]
  /** Secret of the agents' webhook signatures; default: no webhook is accepted. */
  readonly webhookSecret?: string
}

/**
 * HTTP server on 127.0.0.1 for the example agents: `/clinic/…` and `/pizza/…` for their actions, `/webhooks` for their webhooks.
 * State is in memory.
 */
export class ExampleServer {
  /** `http://127.0.0.1:PORT` */
  readonly origin: string
  readonly #server: Server
  readonly #clinic: Clinic
  readonly #pizzeria: Pizzeria
  readonly #inbox: WebhookInbox

  private constructor(server: Server, clinic: Clinic, pizzeria: Pizzeria, inbox: WebhookInbox) {
    this.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    this.#server = server
    this.#clinic = clinic
    this.#pizzeria = pizzeria
    this.#inbox = inbox
  }

  /** Rejects with the system's error when the port is taken. */
  static async open(options: ExampleServerOptions = {}): Promise<ExampleServer> {
    const { port = 0, wallClock = Date.now, doctors = 1, soldOut = [], webhookSecret = null } = options
    const clinic = new Clinic(wallClock, doctors)
    const pizzeria = new Pizzeria(wallClock, soldOut)
    const inbox = new WebhookInbox(webhookSecret, wallClock)
    const services = { clinic, pizza: pizzeria, webhooks: inbox }
    const server = createServer(
      { maxHeaderSize: MAX_HEADER_BYTES, requestTimeout: REQUEST_TIMEOUT_MS, headersTimeout: REQUEST_TIMEOUT_MS },
      (request, response) => void respond(services, request, response),
    )
    server.maxConnections = MAX_CONNECTIONS
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(port, '127.0.0.1', resolve)
    })
    return new ExampleServer(server, clinic, pizzeria, inbox)
  }

  /** Appointments that were booked, oldest first. */
  get bookings(): readonly Booking[] {
    return this.#clinic.bookings
  }

  /** Patients who asked the clinic to be called back, oldest first. */
  get callbacks(): readonly Callback[] {
    return this.#clinic.callbacks
  }

  /** Pizzas that were ordered, oldest first. */
  get orders(): readonly Order[] {
    return this.#pizzeria.orders
  }

  /** URL for the agents' webhooks. */
  get webhookUrl(): string {
    return `${this.origin}/webhooks`
  }

  /** Webhooks with a valid signature, oldest first. */
  get webhooks(): readonly ReceivedEvent[] {
    return this.#inbox.events
  }

  /** Ends every connection. Idempotent. */
  async close(): Promise<void> {
    const closed = new Promise<void>(resolve => this.#server.close(() => resolve()))
    this.#server.closeAllConnections()
    await closed
  }
}

type Services = Readonly<Record<string, Service>>

async function respond(services: Services, request: IncomingMessage, response: ServerResponse): Promise<void> {
  // An aborted request gets no answer.
  request.on('error', () => {})
  response.on('error', () => {})
  const url = URL.parse(request.url ?? '', 'http://127.0.0.1')
  const [, serviceName = '', ...rest] = url?.pathname.split('/') ?? []
  const service = Object.hasOwn(services, serviceName) ? services[serviceName] : undefined
  const { operations, refusals } = service ?? services.clinic!
  const refuse = (status: number, message: string) => send(response, { status, body: { message } })
  try {
    const path = `/${rest.join('/')}`
    const name = `${request.method} ${path}`
    const bytes = await bodyOf(request, serviceName === 'webhooks' ? MAX_WEBHOOK_BYTES : MAX_BODY_BYTES)
    if (bytes === undefined) {
      response.setHeader('connection', 'close')
      return refuse(413, refusals.tooLarge)
    }
    if (url === null || service === undefined || !Object.hasOwn(operations, name)) return refuse(404, refusals.unknown)
    const body = parse(bytes)
    if (body === undefined) return refuse(400, refusals.unreadable)
    const idempotencyKey = headerOf(request, 'idempotency-key')
    const signature = headerOf(request, 'parley-signature')
    const content = bytes.toString('latin1')
    const asked = {
      method: request.method ?? '',
      path,
      query: url.searchParams,
      content,
      body,
      idempotencyKey,
      signature,
    }
    send(response, operations[name]!(asked))
  } catch {
    if (!response.headersSent) refuse(500, refusals.broken)
  }
}

function headerOf({ headers }: IncomingMessage, name: string): string | null {
  const value = headers[name]
  return typeof value === 'string' ? value : null
}

/** Undefined: the body is larger than `most` bytes. */
async function bodyOf(request: IncomingMessage, most: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > most) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Members of a JSON object; none of an empty body; undefined for anything else. */
function parse(bytes: Buffer): Record<string, unknown> | undefined {
  if (bytes.length === 0) return {}
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'))
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

function send(response: ServerResponse, { status, body }: ServiceAnswer): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' })
  response.end(JSON.stringify(body))
}
