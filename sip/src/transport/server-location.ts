import type { Random } from '@parley/kernel'
import type { DnsPort, NaptrRecord, SrvRecord } from './dns.ts'
import { isHostName, isLocalhost } from './host-name.ts'
import { parseIpAddress } from './ip-address.ts'
import { bareHost, defaultPort, type Resolver } from './resolver.ts'
import { orderSrv } from './srv-order.ts'
import type { NextHop, Target, TransportName } from './transport.ts'

/**
 * Replaces the DNS for one name. The certificate is still verified for the name itself, and
 * a hop that requires TLS is never sent over another transport.
 */
export interface ResolveOverride {
  /** An address, or another name, whose addresses are looked up (no NAPTR, no SRV). */
  readonly host: string
  /** Absent: the hop's own port, or the transport's default. */
  readonly port?: number | undefined
  /** Absent: the hop's own, or UDP. */
  readonly transport?: TransportName | undefined
}

/** By lower-case name; several for one name are tried in their order. */
export type ResolveOverrides = ReadonlyMap<string, readonly ResolveOverride[]>

interface ServerLocatorOptions {
  readonly dns: DnsPort
  /** Randomness for the selection among SRV records of one priority. */
  readonly random: Random
  readonly overrides?: ResolveOverrides
  /** Whether a request for a hop with `isRestricted` may be sent to this address. Addresses of overrides are not asked about. Default: yes. */
  readonly permits?: TargetPermit
}

/** Whether requests may be sent to an address to which the name `host` resolves. */
export type TargetPermit = (host: string, address: string, port: number) => boolean

/** A host and port for one transport, before its addresses are looked up. */
interface Place {
  readonly host: string
  readonly port: number
  readonly transport: TransportName
}

/** Most targets that are tried for one request. */
const MAX_TARGETS = 16

/** RFC 3263 section 4.1: transports by NAPTR service field. */
const SERVICES: ReadonlyMap<string, TransportName> = new Map([
  ['SIPS+D2T', 'tls'],
  ['SIP+D2T', 'tcp'],
  ['SIP+D2U', 'udp'],
])

const SRV_PREFIX: Readonly<Record<TransportName, string>> = { tls: '_sips._tcp', tcp: '_sip._tcp', udp: '_sip._udp' }

/** Order in which transports are tried when the domain has no NAPTR records: the most secure first. */
const OUR_ORDER: readonly TransportName[] = ['tls', 'tcp', 'udp']

/**
 * RFC 3263 section 4: NAPTR, SRV, then A and AAAA. An IP address or a port in the hop skips NAPTR and SRV, a transport in the hop
 * skips NAPTR (so does `sips:`, which is TLS here). A failed query counts as no record. The certificate must be for the
 * name of the hop, never for one that the DNS returned (RFC 5922 section 4).
 */
export class ServerLocator implements Resolver {
  readonly #dns: DnsPort
  readonly #random: Random
  readonly #overrides: ResolveOverrides
  readonly #permits: TargetPermit

  constructor(options: ServerLocatorOptions) {
    this.#dns = options.dns
    this.#random = options.random
    this.#overrides = options.overrides ?? new Map()
    this.#permits = options.permits ?? (() => true)
  }

  /** Never rejects. */
  async resolve(hop: NextHop): Promise<readonly Target[]> {
    const name = bareHost(hop.host)
    const overrides = this.#overrides.get(name.toLowerCase().replace(/\.$/, ''))
    const places = overrides === undefined ? await this.#places(hop, name) : overridden(hop, overrides)
    const serverName = hop.serverName ?? name
    const found = await Promise.all(places.slice(0, MAX_TARGETS).map(place => this.#addresses(place.host)))
    const targets = found.flatMap((addresses, i) => {
      const { port, transport } = places[i]!
      return addresses.map(address => ({ address, port, transport, serverName }))
    })
    const isFree = hop.isRestricted !== true || overrides !== undefined
    return targets.filter(({ address, port }) => isFree || this.#permits(name, address, port)).slice(0, MAX_TARGETS)
  }

  async #places(hop: NextHop, name: string): Promise<readonly Place[]> {
    const { transport = 'udp', port = defaultPort(transport) } = hop
    const itself = [{ host: name, port, transport }]
    if (parseIpAddress(name) !== undefined) return itself
    if (!isHostName(name)) return []
    if (hop.port !== undefined || isLocalhost(name)) return itself
    const domain = name.replace(/\.$/, '')
    if (hop.transport !== undefined) return (await this.#service(hop.transport, domain)) ?? itself
    return (await this.#byNaptr(domain)) ?? (await this.#bySrv(domain)) ?? itself
  }

  /** Section 4.1: the NAPTR records of services that we have, those of the best order only (RFC 3403 section 4.1). */
  async #byNaptr(domain: string): Promise<readonly Place[] | undefined> {
    const usable = (await orNothing(this.#dns.naptr(domain))).flatMap(record => usableNaptr(record) ?? [])
    const best = Math.min(...usable.map(({ order }) => order))
    const chosen = usable.filter(({ order }) => order === best).sort((a, b) => a.preference - b.preference)
    const found = await Promise.all(
      chosen.slice(0, MAX_TARGETS).map(({ transport, replacement }) => this.#srv(replacement, transport)),
    )
    return merged(found)
  }

  async #bySrv(domain: string): Promise<readonly Place[] | undefined> {
    return merged(await Promise.all(OUR_ORDER.map(transport => this.#service(transport, domain))))
  }

  #service(transport: TransportName, domain: string): Promise<readonly Place[] | undefined> {
    return this.#srv(`${SRV_PREFIX[transport]}.${domain}`, transport)
  }

  /** Undefined: there is no such record. Empty: the service is explicitly not available (RFC 2782, target "."). */
  async #srv(name: string, transport: TransportName): Promise<readonly Place[] | undefined> {
    const records = await orNothing(this.#dns.srv(name))
    if (records.length === 0) return undefined
    return orderSrv(records.filter(isService), this.#random).map(({ target, port }) => ({
      host: target,
      port,
      transport,
    }))
  }

  async #addresses(host: string): Promise<readonly string[]> {
    if (parseIpAddress(host) !== undefined) return [host]
    if (!isHostName(host)) return []
    const addresses = await orNothing(this.#dns.addresses(host))
    return addresses.filter(address => parseIpAddress(address) !== undefined)
  }
}

function overridden(hop: NextHop, overrides: readonly ResolveOverride[]): readonly Place[] {
  const places = overrides.map(override => {
    const transport = override.transport ?? hop.transport ?? 'udp'
    return { host: bareHost(override.host), port: override.port ?? hop.port ?? defaultPort(transport), transport }
  })
  return hop.transport === 'tls' ? places.filter(place => place.transport === 'tls') : places
}

/** Section 4.1 uses flag "s" with a replacement only. */
function usableNaptr(record: NaptrRecord): (NaptrRecord & { readonly transport: TransportName }) | undefined {
  const transport = SERVICES.get(record.service.toUpperCase())
  const usable =
    transport !== undefined &&
    record.flags.toLowerCase() === 's' &&
    record.regexp === '' &&
    isHostName(record.replacement)
  return usable ? { ...record, transport } : undefined
}

function isService(record: SrvRecord): boolean {
  return record.port >= 1 && record.port <= 65_535 && isHostName(record.target)
}

function merged(found: readonly (readonly Place[] | undefined)[]): readonly Place[] | undefined {
  const known = found.filter(places => places !== undefined)
  return known.length === 0 ? undefined : known.flat()
}

async function orNothing<Item>(question: Promise<readonly Item[]>): Promise<readonly Item[]> {
  try {
    return await question
  } catch {
    return []
  }
}
