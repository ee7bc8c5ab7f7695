import type { DigestClient } from '../auth/digest-client.ts'
import type { Flow, Target, TransportName } from '../transport/transport.ts'

/** Who a call's next hop is: the name that connections to it prove, and where its credentials may go. */
export class CallIdentity {
  /** The trunk's own host name; undefined for a peer that only ever called us. */
  readonly serverName: string | undefined
  readonly digest: DigestClient | undefined
  readonly #own = new Set<string>()

  constructor(serverName: string | undefined, digest: DigestClient | undefined) {
    this.serverName = serverName
    this.digest = digest
  }

  /** These addresses were found for the call's own next hop. */
  adopt(targets: readonly Target[]): void {
    for (const target of targets) this.#own.add(`${target.transport} ${target.address}`)
  }

  /** False: whoever challenges on this flow is not the call's next hop, and gets no credentials. */
  owns(flow: Flow): boolean {
    return this.ownsAddress(flow.transport, flow.remote.address)
  }

  ownsAddress(transport: TransportName, address: string): boolean {
    return this.#own.has(`${transport} ${address}`)
  }
}
