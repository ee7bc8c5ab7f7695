import { type Ms, type Random, randomBelow, type Time } from '@parley/kernel'
import { parseDatagram } from '../message/parse-datagram.ts'
import type {
  Flow,
  NextHop,
  SipTransport,
  SocketAddress,
  Target,
  TransportInput,
  TransportName,
  TransportOutput,
} from '../transport/transport.ts'

export interface VirtualNetworkOptions {
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

export interface VirtualElementOptions {
  /** IP literal. */
  readonly address: string
  /** What Via, Contact and certificates say; default: the address. */
  readonly host?: string
  /** Names that its certificate proves; default: `host`. */
  readonly names?: readonly string[]
  /** Default: all three. UDP and TCP on 5060, TLS on 5061. */
  readonly listens?: readonly TransportName[]
}

const PORTS: Readonly<Record<TransportName, number>> = { udp: 5060, tcp: 5060, tls: 5061 }

/** Elements that reach one another in memory and in virtual time: datagrams get lost, connections are refused and cut. */
export class VirtualNetwork {
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

/** One end of a connection; the two ends know each other. */
interface Connection {
  readonly flow: Flow
  readonly owner: VirtualTransport
  peer: Connection | undefined
  open: boolean
}

/** The transport of one element of a `VirtualNetwork`. */
export class VirtualTransport implements SipTransport {
  readonly address: string
  readonly host: string
  readonly names: string[]
  readonly #network: VirtualNetwork
  readonly #listens: readonly TransportName[]
  readonly #connections = new Map<string, Connection>()
  readonly #udpFlows = new Map<string, Flow>()
  #listener: ((input: TransportInput) => void) | undefined
  #nextPort = 40_000
  #silent = false

  constructor(network: VirtualNetwork, options: VirtualElementOptions) {
    this.#network = network
    this.address = options.address
    this.host = options.host ?? options.address
    this.names = [...(options.names ?? [this.host])]
    this.#listens = options.listens ?? ['udp', 'tcp', 'tls']
  }

  onInput(listener: (input: TransportInput) => void): void {
    this.#listener = listener
  }

  advertised(transport: TransportName): { readonly host: string; readonly port: number } | undefined {
    return this.#listens.includes(transport) ? { host: this.host, port: PORTS[transport] } : undefined
  }

  submit(output: TransportOutput): void {
    switch (output.type) {
      case 'resolve':
        this.#later(0, () =>
          this.#tell({ type: 'resolved', resolveId: output.resolveId, targets: this.#network.resolve(output.hop) }),
        )
        return
      case 'send':
        if ('flow' in output.to) this.#sendOnFlow(output.sendId, output.to.flow, output.bytes)
        else this.#sendToTarget(output.sendId, output.to.target, output.bytes)
        return
      case 'close-flow':
        this.cut(output.flow)
        return
    }
  }

  #sendOnFlow(sendId: number, flow: Flow, bytes: Uint8Array): void {
    if (flow.transport === 'udp') {
      this.#sendDatagram(sendId, flow.remote, bytes)
      return
    }
    const connection = this.#connections.get(flow.id)
    if (connection?.open) this.#write(sendId, connection, bytes)
    else this.#fail(sendId, 'closed', 'the connection is closed')
  }

  #sendToTarget(sendId: number, target: Target, bytes: Uint8Array): void {
    if (target.transport === 'udp') {
      this.#sendDatagram(sendId, target, bytes)
      return
    }
    for (const connection of this.#connections.values()) {
      const { transport, remote, serverName } = connection.flow
      const same = transport === target.transport && remote.address === target.address && remote.port === target.port
      if (same && connection.open && serverName === target.serverName) {
        this.#write(sendId, connection, bytes)
        return
      }
    }
    this.#dial(sendId, target, bytes)
  }

  #sendDatagram(sendId: number, to: SocketAddress, bytes: Uint8Array): void {
    const flow = this.#udpFlow({ address: to.address, port: to.port }, 'dialled')
    const lost = this.#network.loses() || this.#network.isRefused(to.address)
    const from = flow.local
    this.#later(0, () => this.#tell({ type: 'sent', sendId, flow }))
    this.#network.note(from, flow.remote, 'udp', bytes, lost)
    if (!lost)
      this.#later(this.#network.latencyMs, () => this.#network.at(to.address)?.receiveDatagram(from, to.port, bytes))
  }

  receiveDatagram(from: SocketAddress, port: number, bytes: Uint8Array): void {
    if (!this.#listens.includes('udp') || port !== PORTS.udp) return
    this.#tell({ type: 'message', flow: this.#udpFlow(from, 'accepted'), result: parseDatagram(bytes) })
  }

  #udpFlow(remote: SocketAddress, origin: Flow['origin']): Flow {
    const key = `${remote.address} ${remote.port}`
    const known = this.#udpFlows.get(key)
    if (known !== undefined) return known
    const local = { address: this.address, port: PORTS.udp }
    const flow: Flow = { id: this.#network.id('udp'), transport: 'udp', local, remote, origin, serverName: undefined }
    this.#udpFlows.set(key, flow)
    return flow
  }

  #dial(sendId: number, target: Target, bytes: Uint8Array): void {
    const { address, port, transport, serverName } = target
    const local = { address: this.address, port: this.#nextPort++ }
    // A connection stands one round trip after it was asked for.
    this.#later(2 * this.#network.latencyMs, () => {
      const peer = this.#network.at(address)
      if (peer === undefined || this.#network.isRefused(address) || !peer.accepts(transport, port)) {
        this.#fail(sendId, 'refused', `${address}:${port} refused the connection`)
        return
      }
      if (transport === 'tls' && !peer.names.includes(serverName)) {
        this.#fail(sendId, 'tls_identity', `the certificate of ${address}:${port} does not prove ${serverName}`)
        return
      }
      const remote = { address, port }
      const near: Connection = {
        flow: { id: this.#network.id(transport), transport, local, remote, origin: 'dialled', serverName },
        owner: this,
        peer: undefined,
        open: true,
      }
      near.peer = peer.accept(near, transport)
      this.#connections.set(near.flow.id, near)
      this.#write(sendId, near, bytes)
    })
  }

  accepts(transport: TransportName, port: number): boolean {
    return this.#listens.includes(transport) && port === PORTS[transport]
  }

  accept(dialler: Connection, transport: TransportName): Connection {
    const { local, remote } = dialler.flow
    const id = this.#network.id(transport)
    const flow: Flow = { id, transport, local: remote, remote: local, origin: 'accepted', serverName: undefined }
    const far: Connection = { flow, owner: this, peer: dialler, open: true }
    this.#connections.set(id, far)
    return far
  }

  #write(sendId: number, connection: Connection, bytes: Uint8Array): void {
    const { flow, peer } = connection
    this.#later(0, () => this.#tell({ type: 'sent', sendId, flow }))
    this.#network.note(flow.local, flow.remote, flow.transport, bytes, false)
    this.#later(this.#network.latencyMs, () => {
      if (peer?.open) peer.owner.#tell({ type: 'message', flow: peer.flow, result: parseDatagram(bytes) })
    })
  }

  /** Cuts a connection at both ends; each end learns of it after the latency, its own at once. */
  cut(flow: Flow): void {
    const near = this.#connections.get(flow.id)
    if (near === undefined) return
    this.#drop(near, 0)
    if (near.peer !== undefined) near.peer.owner.#drop(near.peer, this.#network.latencyMs)
  }

  #drop(connection: Connection, delayMs: Ms): void {
    connection.open = false
    this.#later(delayMs, () => {
      if (this.#connections.delete(connection.flow.id)) {
        this.#tell({ type: 'flow-closed', flow: connection.flow, code: 'cut' })
      }
    })
  }

  /** Cuts every connection of this element. */
  cutAll(): void {
    for (const connection of [...this.#connections.values()]) this.cut(connection.flow)
  }

  /** From now on this element hears nothing: a process that hangs, or was killed behind a silent router. */
  silence(): void {
    this.#silent = true
  }

  get openConnections(): number {
    return this.#connections.size
  }

  #fail(sendId: number, code: string, detail: string): void {
    this.#later(0, () => this.#tell({ type: 'send-failed', sendId, code, detail }))
  }

  #later(delayMs: Ms, work: () => void): void {
    this.#network.time.at(this.#network.time.now() + delayMs, work)
  }

  #tell(input: TransportInput): void {
    if (!this.#silent) this.#listener?.(input)
  }
}
