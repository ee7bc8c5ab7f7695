import type { DigestClient } from '../auth/digest-client.ts'
import type { Destination } from '../transaction/message-sender.ts'
import { type IpNetwork, isInNetworks } from '../transport/ip-network.ts'
import type { Flow, Target, TransportName } from '../transport/transport.ts'

/** Most realms learnt from the challenges of a call's first request. */
const MAX_REALMS = 8

interface CallIdentityOptions {
  /** The trunk's own host name; undefined for a peer that we never dialled. */
  readonly serverName?: string | undefined
  readonly digest?: DigestClient | undefined
  /** Protection spaces that may receive credentials; undefined: those that challenged the call's first request. */
  readonly realms?: readonly string[] | undefined
  /** The networks that the trunk's requests come from; undefined: not known. */
  readonly sources?: readonly IpNetwork[] | undefined
}

/** Identity of a call's next hop: the name that its TLS connections prove, its addresses, and the credentials for it. */
export class CallIdentity {
  readonly serverName: string | undefined
  readonly digest: DigestClient | undefined
  readonly #sources: readonly IpNetwork[] | undefined
  readonly #configuredRealms: readonly string[] | undefined
  readonly #learntRealms = new Set<string>()
  readonly #own = new Set<string>()
  readonly #addresses = new Set<string>()
  readonly #transports = new Set<TransportName>()

  constructor({ serverName, digest, realms, sources }: CallIdentityOptions) {
    this.serverName = serverName
    this.digest = digest
    this.#configuredRealms = realms
    this.#sources = sources
  }

  /** Records the addresses that the call's next hop resolved to. */
  adopt(targets: readonly Target[]): void {
    for (const target of targets) {
      this.#own.add(`${target.transport} ${target.address}`)
      this.#addresses.add(target.address)
      this.#transports.add(target.transport)
    }
  }

  /**
   * Whether the peer on this flow is the call's next hop, which may receive credentials: its certificate was verified
   * against the trunk's name, or its address is one of the trunk's.
   */
  owns(flow: Flow): boolean {
    const isVerified = flow.transport === 'tls' && this.#isServerName(flow.serverName)
    return isVerified || this.#ownsAddress(flow.transport, flow.remote.address)
  }

  /** Whether what is sent there reaches the call's next hop, and nobody else: see `owns`. */
  ownsDestination(to: Destination): boolean {
    if ('flow' in to) return this.owns(to.flow)
    // A connection over TLS is used only if its certificate proves the name of its target.
    const { transport, address, serverName } = to.target
    return (transport === 'tls' && this.#isServerName(serverName)) || this.#ownsAddress(transport, address)
  }

  #isServerName(name: string | undefined): boolean {
    return this.serverName !== undefined && name?.toLowerCase() === this.serverName.toLowerCase()
  }

  #ownsAddress(transport: TransportName, address: string): boolean {
    const isSource = this.#transports.has(transport) && isInNetworks(address, this.#sources ?? [])
    return isSource || this.#own.has(`${transport} ${address}`)
  }

  /** Whether the trunk's requests may come from this address: true while its networks are not known. */
  sendsFrom(address: string): boolean {
    return this.#sources === undefined || this.#addresses.has(address) || isInNetworks(address, this.#sources)
  }

  /** The call's first request was challenged for this realm over a connection of the trunk. */
  learnRealm(realm: string): void {
    if (this.#learntRealms.size < MAX_REALMS) this.#learntRealms.add(realm)
  }

  mayAuthenticateTo(realm: string): boolean {
    return this.#configuredRealms?.includes(realm) ?? this.#learntRealms.has(realm)
  }
}
