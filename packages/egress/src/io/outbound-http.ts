import { isIP, type LookupFunction } from 'node:net'
import type { Ms, Time } from '@parley/kernel'
import type { EgressAllowEntry } from '../allow-list.ts'
import type {
  Egress,
  EgressNotConnected,
  EgressRefused,
  EgressRequest,
  EgressResult,
  PreparedRequest,
} from '../protocol.ts'
import { type Message, redirected } from '../redirect.ts'
import { requestHeaders } from '../request-headers.ts'
import { permittedAddresses, type Target, targetOf } from '../target.ts'
import { connectPinned } from './connect-pinned.ts'
import { Connection, type Exchange } from './connection.ts'
import { Connections } from './connections.ts'
import { decodedBody } from './decoded-body.ts'
import { Lifetime } from './lifetime.ts'
import { SystemAddresses } from './system-addresses.ts'

export interface OutboundHttpOptions {
  /** Private hosts and ports that may be reached; `parseEgressAllow` parses them. */
  readonly allow: readonly EgressAllowEntry[]
  /** Returns the addresses of a name in the order in which they are tried; may reject. Default: the system's resolver. */
  readonly resolve?: (host: string) => Promise<readonly string[]>
  /** Limit of an answer's body; a longer one is truncated. Default 1 MiB. */
  readonly maxResponseBytes?: number
  /** For all addresses of a name together, including TLS. Default 5000. */
  readonly connectTimeoutMs?: Ms
  /** PEM certificates of authorities instead of those that Node trusts. */
  readonly ca?: string | readonly string[]
  readonly time: Time
}

const MAX_REDIRECTS = 3

/**
 * The one outbound HTTP client for agents. A name is resolved once, its addresses are checked, and the connection goes to
 * a checked address. HTTP/1.1. Idle connections stay open for a few seconds, never for longer than the server announces, and are reused for
 * requests that may be sent again: GET, and those with an `Idempotency-Key`.
 */
export class OutboundHttp implements Egress {
  readonly #options: OutboundHttpOptions
  readonly #resolve: (host: string) => Promise<readonly string[]>
  readonly #maxBytes: number
  readonly #connections: Connections
  readonly #lifetimes = new Set<Lifetime>()
  #closed = false

  constructor(options: OutboundHttpOptions) {
    this.#options = options
    const system = new SystemAddresses(options.time)
    this.#resolve = options.resolve ?? (host => system.resolve(host))
    this.#maxBytes = options.maxResponseBytes ?? 1_048_576
    this.#connections = new Connections(options.time)
  }

  async send(request: EgressRequest, signal: AbortSignal): Promise<EgressResult> {
    const prepared = await this.prepare(request, signal)
    return prepared.type === 'prepared' ? prepared.send(signal) : prepared
  }

  async prepare(
    request: EgressRequest,
    signal: AbortSignal,
  ): Promise<PreparedRequest | EgressRefused | EgressNotConnected> {
    const startedAt = this.#options.time.now()
    const target = targetOf(request.url)
    if (target === undefined) return { type: 'refused', reason: 'bad_url', durationMs: 0 }
    const deadline = startedAt + request.timeoutMs
    const addresses = await this.#withLifetime(deadline, signal, lifetime => this.#addressesOf(target.host, lifetime))
    const durationMs = this.#options.time.now() - startedAt
    if (typeof addresses === 'string') return { type: 'not_connected', reason: addresses, durationMs }
    if (this.#permitted(target, addresses).length === 0)
      return { type: 'refused', reason: 'address_not_allowed', durationMs }
    const { method, headers = {}, body, keepsBody } = request
    const message = { target, method, headers: requestHeaders(headers), body, keepsBody }
    return {
      type: 'prepared',
      send: async signal => {
        const ended = await this.#withLifetime(deadline, signal, lifetime =>
          this.#sendAndFollow(message, addresses, lifetime),
        )
        return { ...ended, durationMs: this.#options.time.now() - startedAt }
      },
    }
  }

  /**
   * A lookup for another client's connections to the server of `url`, which somebody else chose: it gives permitted addresses only.
   * Node asks no lookup for a literal address: the other client has to ask it before it connects to one.
   */
  lookupFor(url: string): LookupFunction {
    const target = targetOf(url)
    return (hostname, options, done) => {
      const resolved = isIP(hostname) === 0 ? this.#resolve(hostname) : Promise.resolve([hostname])
      resolved.then(
        addresses => {
          const permitted = target === undefined || target.host !== hostname ? [] : this.#permitted(target, addresses)
          const [first] = permitted
          if (first === undefined)
            return done(
              Object.assign(new Error(`${hostname} has no address that may be contacted`), { code: 'ENOTFOUND' }),
              '',
            )
          if (options.all === true)
            return done(
              null,
              permitted.map(address => ({ address, family: isIP(address) })),
            )
          done(null, first, isIP(first))
        },
        (error: NodeJS.ErrnoException) => done(error, ''),
      )
    }
  }

  /** Ends all running requests and closes every connection. */
  async close(): Promise<void> {
    this.#closed = true
    for (const lifetime of [...this.#lifetimes]) lifetime.end('closed')
    this.#connections.close()
  }

  /** The number of open connections, and how many of them are idle. */
  get connections(): { readonly open: number; readonly idle: number } {
    return this.#connections.counts
  }

  async #withLifetime<T>(deadline: Ms, signal: AbortSignal, work: (lifetime: Lifetime) => Promise<T>): Promise<T> {
    const lifetime = new Lifetime(this.#options.time, deadline, signal)
    if (this.#closed) lifetime.end('closed')
    this.#lifetimes.add(lifetime)
    try {
      return await work(lifetime)
    } finally {
      lifetime.release()
      this.#lifetimes.delete(lifetime)
    }
  }

  /** The addresses, or the reason why there are none. */
  async #addressesOf(host: string, lifetime: Lifetime): Promise<readonly string[] | string> {
    if (lifetime.endedBy !== undefined) return lifetime.endedBy
    if (isIP(host) !== 0) return [host]
    try {
      const addresses = await lifetime.within(this.#resolve(host))
      if (addresses === undefined) return lifetime.endedBy ?? 'closed'
      return addresses.length === 0 ? 'the name has no addresses' : addresses
    } catch (error) {
      return error instanceof Error ? error.message.slice(0, 200) : 'the name was not resolved'
    }
  }

  #permitted(target: Target, addresses: readonly string[]): readonly string[] {
    return permittedAddresses(target, addresses, this.#options.allow)
  }

  /** Sends the message and follows its redirects, always at the addresses of the first lookup. */
  async #sendAndFollow(first: Message, addresses: readonly string[], lifetime: Lifetime): Promise<Result> {
    let message = first
    for (let redirects = 0; ; redirects++) {
      const exchange = await this.#exchange(message, this.#permitted(message.target, addresses), lifetime)
      if (exchange.type !== 'answered') {
        const unsent = exchange.type === 'unsent' && redirects === 0
        return { type: unsent ? 'not_connected' : 'no_answer', reason: exchange.reason }
      }
      const next = redirected(message, exchange.status, exchange.headers.location)
      const isFinal = redirects === MAX_REDIRECTS || next === undefined
      if (isFinal || this.#permitted(next.target, addresses).length === 0) return this.#decoded(exchange)
      message = next
    }
  }

  async #decoded(exchange: Extract<Exchange, { type: 'answered' }>): Promise<Result> {
    const encoding = exchange.headers['content-encoding']
    const { body, truncated } = await decodedBody(exchange.body, encoding, this.#maxBytes)
    return { ...exchange, body, truncated: truncated || exchange.truncated }
  }

  async #exchange(message: Message, addresses: readonly string[], lifetime: Lifetime): Promise<Exchange> {
    const { origin } = message.target.url
    if (!(await this.#connections.acquire(origin, lifetime)))
      return { type: 'unsent', reason: lifetime.endedBy ?? 'closed' }
    try {
      const exchange = maySendAgain(message) ? await this.#overIdle(message, addresses, lifetime) : undefined
      return exchange ?? (await this.#overNew(message, addresses, lifetime))
    } finally {
      this.#connections.release(origin)
    }
  }

  /** Undefined if there is no idle connection, or all of them had closed. */
  async #overIdle(message: Message, addresses: readonly string[], lifetime: Lifetime): Promise<Exchange | undefined> {
    for (const address of addresses)
      for (;;) {
        const connection = this.#connections.take(message.target.url.origin, address)
        if (connection === undefined) break
        const exchange = await this.#over(connection, address, message, lifetime)
        if (exchange.type !== 'unsent' || lifetime.endedBy !== undefined) return exchange
      }
    return undefined
  }

  /** Tries the addresses one after another, each with its share of the connect timeout. */
  async #overNew(message: Message, addresses: readonly string[], lifetime: Lifetime): Promise<Exchange> {
    const { time, ca, connectTimeoutMs = 5000 } = this.#options
    const { target } = message
    const until = time.now() + connectTimeoutMs
    let reason = 'no address'
    for (const [at, address] of addresses.entries()) {
      const timeoutMs = (until - time.now()) / (addresses.length - at)
      const socket = await connectPinned({ target, address, lifetime, time, timeoutMs, ca })
      if (typeof socket !== 'string') {
        const connection = new Connection(target.url.origin, socket, () => this.#connections.forget(connection))
        this.#connections.add(connection)
        return this.#over(connection, address, message, lifetime)
      }
      reason = socket
      if (lifetime.endedBy !== undefined) break
    }
    return { type: 'unsent', reason }
  }

  async #over(connection: Connection, address: string, message: Message, lifetime: Lifetime): Promise<Exchange> {
    const exchange = await connection.exchange(message, this.#maxBytes, lifetime)
    if (this.#closed) connection.close()
    else this.#connections.keep(connection, message.target.url.origin, address)
    return exchange
  }
}

/**
 * A server may close an idle connection while a request is on its way; the request is then lost, and the client cannot know
 * whether the server acted. Only requests that may be sent again reuse connections.
 */
function maySendAgain({ method, headers }: Message): boolean {
  return method === 'GET' || headers['idempotency-key'] !== undefined
}

type WithoutDuration<T> = T extends unknown ? Omit<T, 'durationMs'> : never
type Result = WithoutDuration<Exclude<EgressResult, EgressRefused>>
