import type { Ms } from '@parley/kernel'

/**
 * The boundary between media threads and the operating system. One instance belongs to one media thread. There are two
 * implementations, tested by one conformance suite: portable (node:dgram) and native (epoll, recvfrom, sendto in C++).
 * A socket is a small integer chosen by the implementation, valid until `close`.
 */
export interface PacketIo {
  readonly kind: 'portable' | 'native'
  /** Binds a UDP socket; throws `MediaError` "address_in_use" or "bind_failed". Port 0 lets the system choose. */
  open(address: string, port: number): Promise<number>
  /** The port that `socket` is bound to. */
  port(socket: number): number
  /**
   * Waits until `deadline` (on this thread's `now()`) or less. The portable implementation yields to the event loop;
   * the native one sleeps in epoll when it may, and otherwise resolves at once.
   */
  wait(deadline: Ms): Promise<void>
  /**
   * Moves packets that have arrived, at most `batch.capacity`, into `batch`, oldest first per socket. Returns how many;
   * 0 when there are none. Packets longer than a slot are dropped and counted.
   */
  poll(batch: PacketBatch): number
  /** Sends the first `count` packets of `batch`; those the system refuses are dropped and counted, never queued. */
  send(batch: PacketBatch, count: number): void
  /** Closes a socket; packets still in it are lost. Idempotent. */
  close(socket: number): void
  /** Monotonic clock of this thread, comparable with `wait` and with `batch.arrivedAt`. */
  now(): Ms
  readonly counters: PacketIoCounters
}

export interface PacketIoCounters {
  received: number
  sent: number
  /** Packets longer than a slot, or that arrived when the queue was full. */
  receiveDropped: number
  sendDropped: number
}

/** Size of one slot: an RTP or RTCP packet with SRTP's tag. */
export const PACKET_SLOT_BYTES = 1536

/** Packets in one buffer, one fixed-size slot each, reused: nothing is allocated per packet. */
export class PacketBatch {
  readonly capacity: number
  /** Slot i is bytes [i * PACKET_SLOT_BYTES, (i + 1) * PACKET_SLOT_BYTES). */
  readonly bytes: Uint8Array
  readonly length: Uint16Array
  readonly socket: Int32Array
  /** Peer: source when received, destination when sent. */
  readonly ipv4: Uint32Array
  readonly port: Uint16Array
  /** Received packets: when the packet arrived (kernel time where the implementation has it). */
  readonly arrivedAt: Float64Array
  /** `slots[i]` is a view of slot i over `bytes`, created once. */
  readonly slots: readonly Uint8Array[]

  constructor(capacity: number) {
    this.capacity = capacity
    this.bytes = new Uint8Array(capacity * PACKET_SLOT_BYTES)
    this.length = new Uint16Array(capacity)
    this.socket = new Int32Array(capacity)
    this.ipv4 = new Uint32Array(capacity)
    this.port = new Uint16Array(capacity)
    this.arrivedAt = new Float64Array(capacity)
    this.slots = Array.from({ length: capacity }, (_, i) =>
      this.bytes.subarray(i * PACKET_SLOT_BYTES, (i + 1) * PACKET_SLOT_BYTES),
    )
  }
}
