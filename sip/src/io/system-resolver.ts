import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { Time } from '@parley/kernel'
import { bareHost, defaultPort, hopTransport, type Resolver } from '../transport/resolver.ts'
import type { NextHop, Target, TransportName } from '../transport/transport.ts'

/** Stands before the DNS for one name: where it really leads. The certificate is still checked for the name itself. */
export interface ResolveOverride {
  /** An address, or another name to look up. */
  readonly host: string
  /** Absent: the hop's own port, or the transport's default. */
  readonly port?: number | undefined
  /** Absent: the hop's own. */
  readonly transport?: TransportName | undefined
}

export interface SystemResolverOptions {
  readonly time: Time
  /** By lower-case name. */
  readonly overrides?: ReadonlyMap<string, ResolveOverride>
  /** Default 5 s. */
  readonly timeoutMs?: number
  /** Every address of a name, in order of preference; default: the system's resolver. */
  readonly lookupAll?: (host: string) => Promise<readonly string[]>
}

/** More addresses than this are not tried for one request. */
const MAX_TARGETS = 16

/** Names as they may stand in a URI; anything else would be a question nobody should ask the DNS. */
const HOST_NAME = /^(?=.{1,253}\.?$)[a-z0-9_]([a-z0-9_-]{0,62})(\.[a-z0-9_]([a-z0-9_-]{0,62}))*\.?$/i

/** RFC 3263 section 4 as far as addresses go: literals, overrides, then A and AAAA with the default transport and port. */
export class SystemResolver implements Resolver {
  readonly #time: Time
  readonly #overrides: ReadonlyMap<string, ResolveOverride>
  readonly #timeoutMs: number
  readonly #lookupAll: (host: string) => Promise<readonly string[]>

  constructor(options: SystemResolverOptions) {
    this.#time = options.time
    this.#overrides = options.overrides ?? new Map()
    this.#timeoutMs = options.timeoutMs ?? 5_000
    this.#lookupAll = options.lookupAll ?? systemLookup
  }

  async resolve(hop: NextHop): Promise<readonly Target[]> {
    const name = bareHost(hop.host)
    const override = this.#overrides.get(name.toLowerCase())
    const transport = override?.transport ?? hopTransport(hop)
    const port = override?.port ?? hop.port ?? defaultPort(transport)
    const serverName = hop.serverName ?? name
    const addresses = await this.#addresses(bareHost(override?.host ?? name))
    return addresses.slice(0, MAX_TARGETS).map(address => ({ address, port, transport, serverName }))
  }

  async #addresses(host: string): Promise<readonly string[]> {
    if (isIP(host) !== 0) return [host]
    if (!HOST_NAME.test(host)) return []
    const { promise: late, resolve } = Promise.withResolvers<readonly string[]>()
    const timer = this.#time.at(this.#time.now() + this.#timeoutMs, () => resolve([]))
    try {
      return await Promise.race([this.#lookupAll(host), late])
    } catch {
      return []
    } finally {
      timer.cancel()
    }
  }
}

/** IPv4 first: carriers and phones that publish both rarely serve SIP on both. */
async function systemLookup(host: string): Promise<readonly string[]> {
  const found = await lookup(host, { all: true, order: 'ipv4first' })
  return found.map(entry => entry.address)
}
