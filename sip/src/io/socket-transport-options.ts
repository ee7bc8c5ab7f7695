import type { Random, Time } from '@parley/kernel'
import type { MessageLimits } from '../message/parse-result.ts'
import type { DatagramLimits } from '../transport/datagram-budget.ts'
import type { Resolver } from '../transport/resolver.ts'
import type { StreamLimits } from '../transport/stream-limits.ts'
import type { SocketAddress } from '../transport/transport.ts'

/** Our certificate, its key and the trusted roots; all PEM. */
export interface TlsIdentity {
  /** Leaf first, then intermediates. */
  readonly cert: string
  readonly key: string
  /** Roots for the servers we dial; several may stand one after the other. */
  readonly ca: string
  /** Trust the public roots that come with Node as well; default false. */
  readonly systemRoots?: boolean
  /** By lower-case name: the only roots for a server that has to prove this name; `ca` does not count there. */
  readonly caByName?: ReadonlyMap<string, string>
  /** By lower-case name: the cipher suites offered to a server that has to prove this name, as OpenSSL lists them; default Node's. */
  readonly ciphersByName?: ReadonlyMap<string, string>
}

/** What Node cannot do with a UDP socket of this process. Both return false where the system cannot do it. */
export interface DatagramControl {
  /**
   * Has the operating system drop all but one in `oneIn` of the datagrams that these IPv4 addresses send to the socket at `local`,
   * before it wakes the process; no address: none is dropped.
   */
  thin(local: SocketAddress, addresses: readonly string[], oneIn: number): boolean
  /** Sets the traffic class of what the socket sends. */
  mark(local: SocketAddress, typeOfService: number): boolean
}

export interface SocketTransportOptions {
  /** IPv4 or IPv6 literal to listen on; default 127.0.0.1. */
  readonly bind?: string
  /** 0: any free port; null or absent: this transport does not listen (TCP and TLS still dial; UDP cannot be sent). */
  readonly udpPort?: number | null
  readonly tcpPort?: number | null
  readonly tlsPort?: number | null
  /** Host of Via and Contact; default `bind`, in brackets when it is IPv6. Needed when `bind` is a wildcard address. */
  readonly advertisedHost?: string
  /** Needed for `tlsPort` and for dialling TLS. */
  readonly tls?: TlsIdentity
  readonly resolver: Resolver
  readonly time: Time
  readonly random: Random
  /**
   * Whether an address is a trunk's, or one that we called: a share of the connections is reserved for such addresses, and more
   * datagrams are read from them. Default: none is.
   */
  readonly isKnownAddress?: (address: string) => boolean
  readonly limits?: Partial<StreamLimits>
  readonly datagramLimits?: Partial<DatagramLimits>
  /** Default: datagrams are not marked, and those of a flood are dropped after they were received, which costs more. */
  readonly datagramControl?: DatagramControl
  readonly messageLimits?: MessageLimits
}
