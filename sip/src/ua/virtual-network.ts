import { type Ms, type Random, randomBelow, type Time } from '@parley/kernel'
import type { NextHop, SocketAddress, Target, TransportName } from '../transport/transport.ts'
import { PORTS, type VirtualElementOptions, type VirtualMedium, VirtualTransport } from './virtual-transport.ts'

interface VirtualNetworkOptions {
  readonly time: Time
  readonly random: Random
  /** One way; default 10. */
  readonly latencyMs?: Ms
  /** Share of datagrams that are lost, 0 to 1; default 0. */
  readonly loss?: number
}

/** A datagram or a message on a connection, as it passed. */
export interface PassedMessage {
  readonly at: Ms
  readonly from: SocketAddress
  readonly to: SocketAddress
  readonly transport: TransportName
  readonly text: string
  readonly lost: boolean
}

/** Elements that reach one another in memory and in virtual time: datagrams get lost, connections are refused and cut. */
export class VirtualNetwork implements VirtualMedium {
  readonly time: Time
  readonly random: Random
  latencyMs: Ms
  loss: number
  /** Everything that passed, oldest first; emptied by whoever likes. */
  readonly passed: PassedMessage[] = []
  readonly #elements = new Map<string, VirtualTransport>()
  readonly #names = new Map<string, readonly SocketAddress[]>()
  readonly #refused = new Set<string>()
  #nextId = 1

  constructor(options: VirtualNetworkOptions) {
    this.time = options.time
    this.random = options.random
    this.latencyMs = options.latencyMs ?? 10
    this.loss = options.loss ?? 0
  }

  element(options: VirtualElementOptions): VirtualTransport {
    const element = new VirtualTransport(this, options)
    this.#elements.set(options.address, element)
    if (options.host !== undefined) this.name(options.host, [{ address: options.address, port: 0 }])
    return element
  }

  /** What a host name resolves to, in order of preference; port 0: the hop's own, or the transport's default. */
  name(host: string, addresses: readonly SocketAddress[]): void {
    this.#names.set(host.toLowerCase(), addresses)
  }

  /** Connections to `address` are refused and datagrams to it vanish, until `allow`. */
  refuse(address: string): void {
    this.#refused.add(address)
  }

  allow(address: string): void {
    this.#refused.delete(address)
  }

  isRefused(address: string): boolean {
    return this.#refused.has(address)
  }

  at(address: string): VirtualTransport | undefined {
    return this.#elements.get(address)
  }

  resolve(hop: NextHop): readonly Target[] {
    const transport = hop.transport ?? 'udp'
    const host = hop.host.replace(/^\[|\]$/g, '')
    const addresses = this.#names.get(host.toLowerCase()) ?? [{ address: host, port: 0 }]
    return addresses.map(({ address, port }) => ({
      address,
      port: port || (hop.port ?? PORTS[transport]),
      transport,
      serverName: hop.serverName ?? hop.host,
    }))
  }

  id(prefix: string): string {
    return `${prefix}-${this.#nextId++}`
  }

  note(from: SocketAddress, to: SocketAddress, transport: TransportName, bytes: Uint8Array, lost: boolean): void {
    const text = new TextDecoder().decode(bytes)
    this.passed.push({ at: this.time.now(), from, to, transport, text, lost })
  }

  loses(): boolean {
    return this.loss > 0 && randomBelow(this.random, 1_000_000) < this.loss * 1_000_000
  }
}
