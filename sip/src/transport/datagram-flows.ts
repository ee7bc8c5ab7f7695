import { RecentMap } from '@parley/kernel'
import type { Flow, SocketAddress } from './transport.ts'

/**
 * UDP flows are pure values made from the two addresses: the same pair always gives the same id. The most recent ones
 * are remembered, only so that a peer keeps its `origin` and a busy peer costs no allocation; a flood of addresses
 * pushes out nothing that matters.
 */
export class DatagramFlows {
  readonly #local: SocketAddress
  readonly #idPrefix: string
  readonly #recent: RecentMap<string, Flow>

  constructor(local: SocketAddress, idPrefix: string, capacity = 1024) {
    this.#local = local
    this.#idPrefix = idPrefix
    this.#recent = new RecentMap(capacity)
  }

  /** The flow to `address` and `port`; `origin` counts only where the pair is not remembered. */
  flow(address: string, port: number, origin: Flow['origin']): Flow {
    const id = `${this.#idPrefix}-udp-${address}-${port}`
    const known = this.#recent.get(id)
    if (known !== undefined) return known
    const remote = { address, port }
    const flow: Flow = { id, transport: 'udp', local: this.#local, remote, origin, serverName: undefined }
    this.#recent.set(id, flow)
    return flow
  }
}
