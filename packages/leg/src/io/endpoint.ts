import { networkInterfaces } from 'node:os'
import { type Ms, type Random, systemRandom, systemTime, type Time } from '@parley/kernel'
import { type MediaPlane, markDatagrams, type PacketIoKind, ThreadedMediaPlane, thinDatagrams } from '@parley/media'
import {
  type InviteSession,
  type IpNetwork,
  isInNetworks,
  parseIpNetwork,
  type RequestGuard,
  type ResolveOverrides,
  SocketTransport,
  type SocketTransportStats,
  SystemResolver,
  type TargetPermit,
  type TlsIdentity,
  UserAgent,
} from '@parley/sip'
import type { LegContext } from '../connect.ts'
import { LegError } from '../errors.ts'
import type { MediaDestinations } from '../media-destinations.ts'
import { type ObservedMessage, ObservedTransport } from '../observed-transport.ts'

export interface EndpointOptions {
  /** IPv4 address for SIP; default 127.0.0.1. */
  readonly bind?: string
  /** Port of each transport. 0, the default: any free port; null: the transport does not listen. */
  readonly udpPort?: number | null
  readonly tcpPort?: number | null
  readonly tlsPort?: number | null
  /** Host in Via and Contact; default `bind`. */
  readonly advertisedHost?: string
  readonly tls: TlsIdentity
  /** Addresses of dialled hosts that take precedence over the DNS. */
  readonly overrides?: ResolveOverrides
  /** Whether a hop that a tenant named may lead to an address. Default: to all. */
  readonly permits?: TargetPermit
  readonly rtp: {
    /** Default: `bind`. */
    readonly bind?: string
    /** Address in our SDP instead of `bind`, such as the outer address of a 1:1 NAT. */
    readonly announcedAddress?: string | undefined
    /**
     * Peers whose signalling comes from these networks get `bind` in the SDP, not `announcedAddress`, and media may be sent
     * to private addresses in them; default none.
     */
    readonly localNetworks?: readonly IpNetwork[]
    readonly ports: { readonly from: number; readonly to: number }
    /** Number of media threads; default: cores minus one, at least one. */
    readonly threads?: number
    /** Default: native if it is built, else portable. */
    readonly packetIo?: PacketIoKind | undefined
  }
  readonly userAgentName: string
  readonly guard: RequestGuard
  readonly onInvite: (session: InviteSession) => void
  /** Whether an address is a trunk's, or one that we called; such addresses have a reserve of connections. Default: none is. */
  readonly isKnownAddress?: (address: string) => boolean
  readonly log?: (level: 'debug' | 'warn' | 'error', event: string, detail: string) => void
  /** Receives every SIP message that is sent or received. */
  readonly observe?: (message: ObservedMessage) => void
}

const LOOPBACK = parseIpNetwork('127.0.0.0/8')!
const TRANSPORTS = ['udp', 'tcp', 'tls'] as const

/** The addresses; in place of the wildcard address, all of this machine. */
function addressesOf(bound: readonly (string | undefined)[]): ReadonlySet<string> {
  const known = bound.filter(address => address !== undefined)
  if (!known.includes('0.0.0.0')) return new Set(known)
  const local = Object.values(networkInterfaces()).flatMap(addresses => addresses ?? [])
  return new Set([...known, ...local.map(({ address }) => address)])
}

/** SIP user agent and media plane of one process on real sockets; the base of an engine and of a phone. */
export class Endpoint implements LegContext {
  readonly userAgent: UserAgent
  readonly media: MediaPlane
  readonly random: Random = systemRandom
  readonly time: Time = systemTime
  readonly #transport: SocketTransport
  readonly #resolver: SystemResolver
  readonly #rtp: EndpointOptions['rtp']
  readonly #threads: ThreadedMediaPlane

  readonly mediaDestinations: MediaDestinations

  private constructor(parts: {
    readonly userAgent: UserAgent
    readonly media: ThreadedMediaPlane
    readonly transport: SocketTransport
    readonly resolver: SystemResolver
    readonly rtp: EndpointOptions['rtp']
    /** Addresses of this endpoint's sockets, as it and its peers see them. */
    readonly ownAddresses: ReadonlySet<string>
    readonly isOnLoopback: boolean
  }) {
    this.userAgent = parts.userAgent
    this.media = parts.media
    this.#threads = parts.media
    this.#transport = parts.transport
    this.#resolver = parts.resolver
    this.#rtp = parts.rtp
    const { localNetworks = [] } = parts.rtp
    this.mediaDestinations = {
      // From a loopback address only loopback addresses are reached.
      localNetworks: parts.isOnLoopback ? [...localNetworks, LOOPBACK] : localNetworks,
      isOwnSocket: (address, port) =>
        parts.ownAddresses.has(address) && (parts.media.isBound(port) || this.#sipPorts.includes(port)),
      ownPorts: [...parts.ownAddresses].flatMap(address => [
        { address, ...parts.rtp.ports },
        ...this.#sipPorts.map(port => ({ address, from: port, to: port })),
      ]),
    }
  }

  /** Throws "address_in_use" and other listen errors, after closing everything that was opened before. */
  static async open(options: EndpointOptions): Promise<Endpoint> {
    const bind = options.bind ?? '127.0.0.1'
    const media = await ThreadedMediaPlane.start({
      bindAddress: options.rtp.bind ?? bind,
      ports: options.rtp.ports,
      ...(options.rtp.threads && { threads: options.rtp.threads }),
      packetIo: options.rtp.packetIo,
    })
    const { overrides, permits, rtp } = options
    const resolver = new SystemResolver({
      time: systemTime,
      ...(overrides && { overrides }),
      ...(permits && { permits }),
    })
    try {
      const transport = await SocketTransport.open({
        bind,
        udpPort: options.udpPort === undefined ? 0 : options.udpPort,
        tcpPort: options.tcpPort === undefined ? 0 : options.tcpPort,
        tlsPort: options.tlsPort === undefined ? 0 : options.tlsPort,
        ...(options.advertisedHost && { advertisedHost: options.advertisedHost }),
        tls: options.tls,
        resolver,
        time: systemTime,
        random: systemRandom,
        datagramControl: { thin: thinDatagrams, mark: markDatagrams },
        ...(options.isKnownAddress && { isKnownAddress: options.isKnownAddress }),
      })
      const userAgent = new UserAgent({
        time: systemTime,
        random: systemRandom,
        transport: options.observe === undefined ? transport : new ObservedTransport(transport, options.observe),
        guard: options.guard,
        userAgentName: options.userAgentName,
        onInvite: options.onInvite,
        log: entry => options.log?.(entry.level, entry.event, entry.detail),
      })
      const rtpBind = rtp.bind ?? bind
      return new Endpoint({
        userAgent,
        media,
        transport,
        resolver,
        rtp,
        ownAddresses: addressesOf([bind, rtpBind, rtp.announcedAddress, options.advertisedHost]),
        isOnLoopback: isInNetworks(rtpBind, [LOOPBACK]),
      })
    } catch (error) {
      resolver.close()
      await media.close()
      throw error
    }
  }

  /** One entry per media thread: load, punctuality since the last call, packet counters. */
  mediaThreads(): ReturnType<ThreadedMediaPlane['threadStatistics']> {
    return this.#threads.threadStatistics()
  }

  /** p99 of the lateness of sent audio packets in the last five seconds; 0 with fewer than ten calls. */
  get mediaLatenessMs(): Ms {
    return this.#threads.latenessMs
  }

  /** Port under which this endpoint is reached; throws "not_listening". */
  port(transport: 'udp' | 'tcp' | 'tls'): number {
    const advertised = this.#transport.advertised(transport)
    if (advertised === undefined)
      throw new LegError(
        'not_listening',
        `this endpoint does not listen on ${transport}: open it with ${transport}Port other than null`,
      )
    return advertised.port
  }

  /** Address for our SDP. Undefined, as for peers in the local networks: `bind`. A dialled host name does not count as local. */
  mediaAddressFor(peerAddress: string | undefined): string | undefined {
    const { announcedAddress, localNetworks = [] } = this.#rtp
    return isInNetworks(peerAddress ?? '', localNetworks) ? undefined : announcedAddress
  }

  get #sipPorts(): readonly number[] {
    return TRANSPORTS.flatMap(transport => this.#transport.advertised(transport)?.port ?? [])
  }

  /** New TLS handshakes use the certificate; open connections and calls go on. Throws "bad_certificate"; the old one then stays in use. */
  replaceCertificate(tls: TlsIdentity): void {
    this.#transport.replaceCertificate(tls)
  }

  /** Numbers of SIP connections and buffered bytes, and the end of the certificate's validity. */
  transportStats(): SocketTransportStats {
    return this.#transport.stats()
  }

  /** Hangs up all calls, then closes sockets, resolver and media threads. Idempotent. */
  async close(): Promise<void> {
    await this.userAgent.close()
    await this.#transport.close()
    this.#resolver.close()
    await this.media.close()
  }
}
