import { isIP, type Socket } from 'node:net'
import type { Ms } from '@parley/kernel'
import { ConnectionTable, type QueuedSend } from '../transport/connection-table.ts'
import { unmapAddress } from '../transport/ip-address.ts'
import type { Flow, Target } from '../transport/transport.ts'
import type { TransportEventQueue } from '../transport/transport-event-queue.ts'
import { dial } from './dial.ts'
import { OpenSockets } from './open-sockets.ts'
import { ReadScheduler } from './read-scheduler.ts'
import { StreamConnection, type StreamConnectionContext } from './stream-connection.ts'
import type { ClientContexts } from './tls-contexts.ts'

interface StreamPoolOptions extends Pick<StreamConnectionContext, 'time' | 'random' | 'limits' | 'messageLimits'> {
  /** Listening address; connections are dialled from it where it names one interface. */
  readonly bind: string
  /** Makes flow ids unique in the process. */
  readonly idPrefix: string
  readonly inbox: TransportEventQueue
}

/** Every TCP and TLS connection of a transport: those that peers opened and those that we dial. */
export class StreamPool {
  readonly #options: StreamPoolOptions
  readonly #context: StreamConnectionContext
  readonly #table: ConnectionTable
  readonly #connections = new Map<string, StreamConnection>()
  readonly #dials = new Set<() => void>()
  readonly #sockets = new OpenSockets()
  #secureContexts: ClientContexts | undefined
  #flowCount = 0
  #closed = false

  constructor(options: StreamPoolOptions, secureContexts: ClientContexts | undefined) {
    this.#options = options
    this.#secureContexts = secureContexts
    this.#table = new ConnectionTable(options.limits)
    const { inbox, time, random, limits, messageLimits } = options
    this.#context = {
      time,
      random,
      limits,
      messageLimits,
      turns: new ReadScheduler(time),
      onMessage: (connection, result) => {
        // About to be closed: the answer may still use it, a new request must not.
        if (!result.ok && result.fatal) this.#table.remove(connection.flow)
        inbox.put({ type: 'message', flow: connection.flow, result })
      },
      onClosed: (connection, code) => {
        this.#connections.delete(connection.flow.id)
        this.#table.remove(connection.flow)
        inbox.put({ type: 'flow-closed', flow: connection.flow, code })
      },
    }
  }

  /** Connections that we opened, dials in progress included. */
  get dialled(): number {
    return this.#table.size
  }

  /** Open connections, in both directions. */
  get established(): number {
    return this.#connections.size
  }

  /** For dials from now on. */
  replaceSecureContexts(contexts: ClientContexts): void {
    this.#secureContexts = contexts
  }

  /** Takes over a connection that a peer opened. `onAnswer` is called when a message is sent on it. */
  accept(socket: Socket, transport: 'tcp' | 'tls', onAnswer: () => void): void {
    const flow = this.#closed ? undefined : this.#flow(socket, transport, 'accepted', undefined)
    if (flow === undefined) socket.destroy()
    else this.#adopt(socket, flow, onAnswer).start()
  }

  sendOn(flow: Flow, send: QueuedSend): void {
    const connection = this.#connections.get(flow.id)
    if (connection === undefined) {
      this.#failed(send, 'closed', `the flow to ${flow.remote.address} is gone`)
    } else if (connection.fits(send.bytes)) {
      connection.write(send.bytes)
      this.#options.inbox.put({ type: 'sent', sendId: send.sendId, flow })
    } else {
      this.#failed(send, 'write_overflow', `${flow.remote.address} does not read what it is sent`)
      connection.overflow()
    }
  }

  /** `target` has a literal address and a valid port. */
  sendTo(target: Target & { readonly transport: 'tcp' | 'tls' }, send: QueuedSend): void {
    if (target.transport === 'tls' && this.#secureContexts === undefined) {
      this.#failed(send, 'tls_failed', 'no certificate authority is configured')
      return
    }
    const route = this.#table.route(target, send)
    if (route.kind === 'reuse') this.sendOn(route.flow, send)
    else if (route.kind === 'refused') this.#failed(send, route.code, `no more sends to ${target.address} for now`)
    else if (route.kind === 'dial') this.#dial(target, route.key)
  }

  closeFlow(flow: Flow): void {
    this.#connections.get(flow.id)?.close('requested', 'closed by this side')
  }

  keepWithin(flow: Flow, withinMs: Ms): void {
    this.#connections.get(flow.id)?.keepWithin(withinMs)
  }

  /** Ends everything: FIN to every peer, `flow-closed` for every flow, `send-failed` for what waited for a dial. */
  shutDown(): void {
    this.#closed = true
    for (const cancel of [...this.#dials]) cancel()
    for (const connection of [...this.#connections.values()]) connection.close('shutdown', 'the transport was closed')
  }

  /** Resolves when no connection is left. */
  drained(): Promise<void> {
    return this.#sockets.drained()
  }

  /** Destroys every open connection at once. */
  cut(): void {
    this.#sockets.cut()
  }

  #dial(target: Target & { readonly transport: 'tcp' | 'tls' }, key: string): void {
    const { time, limits } = this.#options
    const secureContext = this.#secureContexts?.for(target.serverName)
    const cancel = dial({ target, localAddress: this.#sourceFor(target), secureContext, time, limits }, outcome => {
      this.#dials.delete(cancel)
      if (!outcome.ok) {
        for (const send of this.#table.failed(key)) this.#failed(send, outcome.code, outcome.detail)
        return
      }
      const { socket } = outcome
      const serverName = target.transport === 'tls' ? target.serverName : undefined
      const flow = this.#flow(socket, target.transport, 'dialled', serverName)
      if (flow === undefined) {
        socket.destroy()
        for (const send of this.#table.failed(key)) this.#failed(send, 'reset', 'the connection died at once')
        return
      }
      const connection = this.#adopt(socket, flow)
      for (const send of this.#table.established(key, flow)) this.sendOn(flow, send)
      connection.start()
    })
    this.#dials.add(cancel)
  }

  /** Undefined if the socket closed before its address was read. */
  #flow(
    socket: Socket,
    transport: 'tcp' | 'tls',
    origin: Flow['origin'],
    serverName: string | undefined,
  ): Flow | undefined {
    const { localAddress, localPort, remoteAddress, remotePort } = socket
    if (localAddress === undefined || localPort === undefined) return undefined
    if (remoteAddress === undefined || remotePort === undefined) return undefined
    return {
      id: `${this.#options.idPrefix}-${transport}-${++this.#flowCount}`,
      transport,
      origin,
      serverName,
      local: { address: unmapAddress(localAddress), port: localPort },
      remote: { address: unmapAddress(remoteAddress), port: remotePort },
    }
  }

  #adopt(socket: Socket, flow: Flow, onSend?: () => void): StreamConnection {
    const connection = new StreamConnection(socket, flow, this.#context, onSend)
    this.#connections.set(flow.id, connection)
    this.#sockets.add(socket)
    return connection
  }

  #failed(send: QueuedSend, code: string, detail: string): void {
    this.#options.inbox.put({ type: 'send-failed', sendId: send.sendId, code, detail })
  }

  /** Peers know us by the address we listen on; a wildcard or loopback address cannot reach the world as source. */
  #sourceFor(target: Target): string | undefined {
    const { bind } = this.#options
    const usable = isIP(bind) === isIP(target.address) && bind !== '0.0.0.0' && bind !== '::'
    return usable && !bind.startsWith('127.') && bind !== '::1' ? bind : undefined
  }
}
