import { createSocket, type Socket, type SocketOptions } from 'node:dgram'
import { once } from 'node:events'
import { isIP } from 'node:net'
import type { Time } from '@parley/kernel'
import { parseDatagram } from '../message/parse-datagram.ts'
import type { MessageLimits } from '../message/parse-result.ts'
import type { DatagramBudget } from '../transport/datagram-budget.ts'
import { DatagramFlows } from '../transport/datagram-flows.ts'
import { unmapAddress } from '../transport/ip-address.ts'
import { isStun } from '../transport/stun.ts'
import { ThinnedSources } from '../transport/thinned-sources.ts'
import type { SocketAddress } from '../transport/transport.ts'
import type { TransportEventQueue } from '../transport/transport-event-queue.ts'
import { SIGNALLING_CLASS } from './signalling-class.ts'
import { errorText } from './socket-error.ts'
import type { DatagramControl } from './socket-transport-options.ts'

/** The largest datagram that is sent; IPv4 could carry 65507 bytes, IPv6 extension headers need some room. */
const MAX_DATAGRAM_BYTES = 65_000

/** Requested receive buffer in bytes: datagrams wait there while the event loop is busy; the system may grant less. */
const RECEIVE_BUFFER_BYTES = 2 << 20

interface DatagramChannelOptions {
  readonly bind: string
  readonly port: number
  /** Makes flow ids unique in the process. */
  readonly idPrefix: string
  readonly messageLimits: MessageLimits
  readonly budget: DatagramBudget
  /** Datagrams a second below which the flood of a thinned source is over. */
  readonly floodEndsBelow: number
  readonly control: DatagramControl | undefined
  readonly time: Time
  readonly inbox: TransportEventQueue
}

/** The one UDP socket of a transport: a datagram is a message (RFC 3261 section 18.3), or nothing but CRLF. */
export class DatagramChannel {
  readonly #options: DatagramChannelOptions
  readonly #socket: Socket
  readonly #ipv6: boolean
  readonly #flows: DatagramFlows
  readonly #thinned: ThinnedSources
  readonly address: SocketAddress

  private constructor(options: DatagramChannelOptions, socket: Socket, ipv6: boolean) {
    this.#options = options
    this.#socket = socket
    this.#ipv6 = ipv6
    const { address, port } = socket.address()
    this.address = { address, port }
    this.#flows = new DatagramFlows(this.address, options.idPrefix)
    const thin = (addresses: readonly string[], oneIn: number) =>
      options.control?.thin(this.address, addresses, oneIn) ?? false
    options.control?.mark(this.address, SIGNALLING_CLASS)
    this.#thinned = new ThinnedSources(options.time, options.floodEndsBelow, thin)
    // Errors of one send go to its callback; other errors do not close the socket.
    socket.on('error', () => {})
    socket.on('message', (bytes, from) => this.#read(bytes, from.address, from.port))
  }

  /** Rejects with the system's error when the port is not available. */
  static async open(options: DatagramChannelOptions): Promise<DatagramChannel> {
    const ipv6 = isIP(options.bind) === 6
    // Addresses are literals here; Node's own lookup would put every send off to a later tick.
    const lookup: SocketOptions['lookup'] = (host, _options, found) => found(null, host, ipv6 ? 6 : 4)
    const socket = createSocket({ type: ipv6 ? 'udp6' : 'udp4', lookup, recvBufferSize: RECEIVE_BUFFER_BYTES })
    const listening = once(socket, 'listening')
    socket.bind({ address: options.bind, port: options.port, exclusive: true })
    try {
      await listening
    } catch (error) {
      socket.close()
      throw error
    }
    return new DatagramChannel(options, socket, ipv6)
  }

  /** Its result is the event `sent` or `send-failed`. `to` has a literal address and a valid port. */
  send(sendId: number, bytes: Uint8Array, to: SocketAddress): void {
    const { inbox } = this.#options
    const family = isIP(to.address)
    if (bytes.length > MAX_DATAGRAM_BYTES) {
      const detail = `${bytes.length} bytes do not fit a datagram of ${MAX_DATAGRAM_BYTES}`
      inbox.put({ type: 'send-failed', sendId, code: 'too_large', detail })
    } else if (family === 6 && !this.#ipv6) {
      const detail = `${to.address} is IPv6, the UDP socket is IPv4`
      inbox.put({ type: 'send-failed', sendId, code: 'unreachable', detail })
    } else {
      const flow = this.#flows.flow(to.address, to.port, 'dialled')
      const address = this.#ipv6 && family === 4 ? `::ffff:${to.address}` : to.address
      this.#socket.send(bytes, to.port, address, error => {
        if (error === null) inbox.put({ type: 'sent', sendId, flow })
        else inbox.put({ type: 'send-failed', sendId, code: 'unreachable', detail: errorText(error) })
      })
    }
  }

  /** Has the operating system drop most of what this address sends, where it can. */
  thin(address: string): void {
    this.#thinned.add(address)
  }

  async close(): Promise<void> {
    this.#thinned.stop()
    const closed = once(this.#socket, 'close')
    this.#socket.close()
    await closed
  }

  #read(bytes: Buffer, from: string, port: number): void {
    const { budget, time, messageLimits, inbox } = this.#options
    const address = unmapAddress(from)
    budget.droppedBefore(this.#thinned.count(address) - 1)
    if (!budget.admits(address, time.now()) || isKeepAlive(bytes)) return
    const flow = this.#flows.flow(address, port, 'accepted')
    if (isStun(bytes)) inbox.put({ type: 'stun', flow, bytes })
    else inbox.put({ type: 'message', flow, result: parseDatagram(bytes, messageLimits) })
  }
}

/** Nothing, or CR and LF only: sent to keep a binding open, not answered on UDP. */
function isKeepAlive(bytes: Uint8Array): boolean {
  return bytes.every(byte => byte === 13 || byte === 10)
}
