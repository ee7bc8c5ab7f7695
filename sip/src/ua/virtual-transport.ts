import type { Ms, Time } from '@parley/kernel'
import { parseDatagram } from '../message/parse-datagram.ts'
import { isStun } from '../transport/stun.ts'
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

/** Where elements listen. */
export const PORTS: Readonly<Record<TransportName, number>> = { udp: 5060, tcp: 5060, tls: 5061 }

/** What lies between the elements. */
export interface VirtualMedium {
  readonly time: Time
  /** One way. */
  readonly latencyMs: Ms
  at(address: string): VirtualTransport | undefined
  resolve(hop: NextHop): readonly Target[]
  isRefused(address: string): boolean
  /** Draws whether the next datagram is lost. */
  loses(): boolean
  /** A new flow id. */
  id(prefix: string): string
  note(from: SocketAddress, to: SocketAddress, transport: TransportName, bytes: Uint8Array, lost: boolean): void
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
  readonly #network: VirtualMedium
  readonly #listens: readonly TransportName[]
  readonly #connections = new Map<string, Connection>()
  readonly #udpFlows = new Map<string, Flow>()
  #listener: ((input: TransportInput) => void) | undefined
  #nextPort = 40_000
  #silent = false

  constructor(network: VirtualMedium, options: VirtualElementOptions) {
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
      case 'keep-within':
        // Connections of this network need no keep-alives.
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
    const flow = this.#udpFlow(from, 'accepted')
    this.#tell(isStun(bytes) ? { type: 'stun', flow, bytes } : { type: 'message', flow, result: parseDatagram(bytes) })
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
