import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import { performance } from 'node:perf_hooks'
import type { Ms, ParleyError } from '@parley/kernel'
import { MediaError } from '../errors.ts'
import { formatIpv4, parseIpv4 } from '../packet-io/ipv4.ts'
import { PACKET_SLOT_BYTES, PacketBatch, type PacketIo, type PacketIoCounters } from '../packet-io/packet-io.ts'
import { markDatagrams } from './datagram-sockets.ts'

/** Arrivals that one thread can hold between two polls; at 500 calls this is 40 ms of packets. */
const ARRIVAL_QUEUE_PACKETS = 2048
/** Arrivals of one socket that are held: a flood at one call must not displace the packets of others. */
const SOCKET_QUEUE_PACKETS = 128
/** Slots for packets that wait while the kernel's buffer is full; enough for any such wait at line rate. */
const SEND_COPIES = 256
/** Timers of the event loop count whole milliseconds and may be this late; the rest of a wait is slept precisely. */
const TIMER_SLACK_MS = 1.25
/** The class of telephony audio (RFC 3246, RFC 4594 section 4.1), above the two bits of ECN. */
const EXPEDITED_FORWARDING = 46 << 2

interface BoundSocket {
  readonly handle: Socket
  readonly port: number
  queued: number
  lastAddressText: string
  lastAddress: number
}

/**
 * Packet I/O over node:dgram. Arrivals are copied into a preallocated ring as the event loop delivers them.
 * `wait` lets the event loop run, sleeps the last fraction of a millisecond exactly, and ends with one more
 * pass over the sockets, so that a poll right after it sees everything that had arrived at the deadline.
 */
export class PortablePacketIo implements PacketIo {
  readonly kind = 'portable'
  readonly counters: PacketIoCounters = { received: 0, sent: 0, receiveDropped: 0, sendDropped: 0 }
  readonly #sockets = new Map<number, BoundSocket>()
  readonly #arrivals = new PacketBatch(ARRIVAL_QUEUE_PACKETS)
  readonly #copies: Buffer[] = Array.from({ length: SEND_COPIES }, () => Buffer.alloc(PACKET_SLOT_BYTES))
  readonly #sleepCell = new Int32Array(new SharedArrayBuffer(4))
  #copy = 0
  #head = 0
  #queued = 0
  #nextSocket = 1

  async open(address: string, port: number): Promise<number> {
    const handle = createSocket({ type: 'udp4', lookup: literalAddressOnly })
    await new Promise<void>((resolve, reject) => {
      handle.once('error', error => reject(bindError(error, address, port)))
      handle.bind({ address, port, exclusive: true }, resolve)
    })
    handle.removeAllListeners('error')
    // Errors of an unconnected UDP socket concern single packets; those are counted where they happen.
    handle.on('error', () => {})
    const id = this.#nextSocket++
    const { port: bound } = handle.address()
    // Without the addon, or on a system that refuses the class, packets are sent without it.
    markDatagrams({ address, port: bound }, EXPEDITED_FORWARDING)
    const socket: BoundSocket = { handle, port: bound, queued: 0, lastAddressText: '', lastAddress: 0 }
    this.#sockets.set(id, socket)
    handle.on('message', (message, from) => this.#arrived(id, socket, message, from))
    return id
  }

  port(socket: number): number {
    return this.#sockets.get(socket)?.port ?? 0
  }

  now(): Ms {
    return performance.now()
  }

  wait(deadline: Ms): Promise<void> {
    const coarseMs = deadline - performance.now() - TIMER_SLACK_MS
    return new Promise(resolve => {
      if (coarseMs < 1) setImmediate(() => this.#finishWait(deadline, resolve))
      else setTimeout(() => this.#finishWait(deadline, resolve), Math.floor(coarseMs))
    })
  }

  poll(batch: PacketBatch): number {
    let count = 0
    while (this.#queued > 0 && count < batch.capacity) {
      const from = this.#head
      this.#head = (this.#head + 1) % ARRIVAL_QUEUE_PACKETS
      this.#queued--
      const socket = this.#arrivals.socket[from]!
      const bound = this.#sockets.get(socket)
      if (bound === undefined) continue
      bound.queued--
      const length = this.#arrivals.length[from]!
      const start = from * PACKET_SLOT_BYTES
      batch.bytes.set(this.#arrivals.bytes.subarray(start, start + length), count * PACKET_SLOT_BYTES)
      batch.length[count] = length
      batch.socket[count] = socket
      batch.ipv4[count] = this.#arrivals.ipv4[from]!
      batch.port[count] = this.#arrivals.port[from]!
      batch.arrivedAt[count] = this.#arrivals.arrivedAt[from]!
      count++
    }
    return count
  }

  send(batch: PacketBatch, count: number): void {
    for (let i = 0; i < count; i++) {
      const socket = this.#sockets.get(batch.socket[i]!)
      const port = batch.port[i]!
      if (socket === undefined || port === 0 || socket.handle.getSendQueueCount() > 0) {
        this.counters.sendDropped++
        continue
      }
      const ipv4 = batch.ipv4[i]!
      const length = batch.length[i]!
      const start = i * PACKET_SLOT_BYTES
      // When the kernel's buffer is full, the packet is sent later from this copy, because the batch's slot may be
      // reused by then.
      const copy = this.#copies[this.#copy]!
      this.#copy = (this.#copy + 1) % SEND_COPIES
      copy.set(batch.bytes.subarray(start, start + length))
      this.counters.sent++
      socket.handle.send(copy, 0, length, port, formatIpv4(ipv4), this.#sendDone)
    }
  }

  close(socket: number): void {
    const bound = this.#sockets.get(socket)
    if (bound === undefined) return
    this.#sockets.delete(socket)
    bound.handle.removeAllListeners('message')
    bound.handle.close()
  }

  readonly #sendDone = (error: Error | null): void => {
    if (error === null) return
    this.counters.sent--
    this.counters.sendDropped++
  }

  #finishWait(deadline: Ms, resolve: () => void): void {
    const left = deadline - performance.now()
    if (left > TIMER_SLACK_MS) {
      // The timer fired early, or less than a timer's resolution was left at the start.
      setTimeout(() => this.#finishWait(deadline, resolve), 1)
      return
    }
    if (left > 0) Atomics.wait(this.#sleepCell, 0, 0, left)
    setImmediate(resolve)
  }

  #arrived(id: number, socket: BoundSocket, message: Buffer, from: RemoteInfo): void {
    this.counters.received++
    const full = this.#queued === ARRIVAL_QUEUE_PACKETS || socket.queued === SOCKET_QUEUE_PACKETS
    if (message.length > PACKET_SLOT_BYTES || full) {
      this.counters.receiveDropped++
      return
    }
    if (from.address !== socket.lastAddressText) {
      socket.lastAddressText = from.address
      socket.lastAddress = parseIpv4(from.address) ?? 0
    }
    const at = (this.#head + this.#queued) % ARRIVAL_QUEUE_PACKETS
    this.#queued++
    socket.queued++
    this.#arrivals.bytes.set(message, at * PACKET_SLOT_BYTES)
    this.#arrivals.length[at] = message.length
    this.#arrivals.socket[at] = id
    this.#arrivals.ipv4[at] = socket.lastAddress
    this.#arrivals.port[at] = from.port
    this.#arrivals.arrivedAt[at] = performance.now()
  }
}

/** Destinations are addresses already; a lookup would queue the packet on a thread pool. */
function literalAddressOnly(
  host: string,
  _options: unknown,
  done: (error: Error | null, address: string, family: number) => void,
): void {
  done(null, host, 4)
}

function bindError(error: NodeJS.ErrnoException, address: string, port: number): ParleyError {
  if (error.code === 'EADDRINUSE') {
    return new MediaError('address_in_use', `UDP ${address}:${port} is already bound`, { cause: error })
  }
  return new MediaError('bind_failed', `UDP ${address}:${port} cannot be bound: ${error.message}`, { cause: error })
}
