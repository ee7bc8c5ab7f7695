import type { DigestClient } from '../auth/digest-client.ts'
import type { Flow, Target, TransportName } from '../transport/transport.ts'

/** Identity of a call's next hop: the name that its TLS connections prove, and the addresses that may receive credentials. */
export class CallIdentity {
  /** The trunk's own host name; undefined for a peer that we never dialled. */
  readonly serverName: string | undefined
  readonly digest: DigestClient | undefined
  readonly #own = new Set<string>()

  constructor(serverName: string | undefined, digest: DigestClient | undefined) {
    this.serverName = serverName
    this.digest = digest
  }

  /** Records the addresses that the call's next hop resolved to. */
  adopt(targets: readonly Target[]): void {
    for (const target of targets) this.#own.add(`${target.transport} ${target.address}`)
  }

  /** False: the peer on this flow is not the call's next hop and must not receive credentials. */
  owns(flow: Flow): boolean {
    return this.ownsAddress(flow.transport, flow.remote.address)
  }

  ownsAddress(transport: TransportName, address: string): boolean {
    return this.#own.has(`${transport} ${address}`)
  }
}
