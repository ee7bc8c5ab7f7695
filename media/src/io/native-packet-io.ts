import { createRequire } from 'node:module'
import { performance } from 'node:perf_hooks'
import type { Ms } from '@parley/kernel'
import { MediaError } from '../errors.ts'
import { parseIpv4 } from '../packet-io/ipv4.ts'
import type { PacketBatch, PacketIo, PacketIoCounters } from '../packet-io/packet-io.ts'
import type { RecordingCopy } from '../recorder/recording-ring.ts'
import type { RtpTransform } from '../srtp/srtp-transform.ts'

/** Exports of media/native/*.cc, which validate their arguments and throw a TypeError or RangeError. */
export interface NativeAddon {
  readonly PacketIo: new (now: Ms) => NativeSockets
  /**
   * A salt of 12 bytes is that of AES-GCM, one of 14 that of AES in counter mode with HMAC-SHA1. `hardware`: whether counter mode uses the
   * processor's instructions where it has them.
   */
  readonly RtpTransform: new (
    encryption: Uint8Array,
    authentication: Uint8Array,
    salt: Uint8Array,
    tagBytes: number,
    hardware: boolean,
  ) => Omit<RtpTransform, 'overhead'>
  /** `coefficients`: of the DTMF tones, `DTMF_COEFFICIENTS`. */
  readonly MediaPath: new (
    coefficients: Float64Array,
  ) => NativePath
  /** Names of the numbers of a call's page in order, a comma after each. */
  pageWords(): string
  /** As the function of `dsp/decibels.ts`. */
  decibels(power: number): number
  /** As the method of `RecordingRingReader`, of the ring that is all of `words`. */
  copyRecording: RecordingCopy
  /** Gives the calling thread real-time priority, or takes it away; returns the system's error number, or 0. */
  realtime(on: boolean): number
  /**
   * Of these IPv4 sources the kernel delivers one datagram in `oneIn`, a power of two, to the UDP socket of this process that is bound to
   * `ipv4` (null: to an IPv6 address) and `port`, and drops the rest; no source: it delivers all. Returns the system's error
   * number, or 0.
   */
  thinDatagrams(ipv4: number | null, port: number, sources: Uint32Array, oneIn: number): number
  /** Sets the traffic class of what that socket sends; returns the system's error number, or 0. */
  markDatagrams(ipv4: number | null, port: number, typeOfService: number): number
}

/** See `MediaPath`. Memory must be shared; `events` begins with their number, then (id, type, two values) each. */
export interface NativePath {
  add(socket: number, rtcpSocket: number, page: Uint8Array, rings: Uint8Array, recording: Uint8Array | null): number
  remove(id: number): void
  openWith(id: number, transform: object | null): boolean
  sealWith(id: number, transform: object | null): boolean
  compose(
    ids: Int32Array,
    from: number,
    until: number,
    slotMs: Float64Array,
    nowMs: Ms,
    outcome: Int8Array,
    due: Uint8Array,
    bytes: Uint8Array,
    length: Uint16Array,
    socket: Int32Array,
    ipv4: Uint32Array,
    port: Uint16Array,
    filled: number,
    events: Float64Array,
  ): number
  receive(
    bytes: Uint8Array,
    length: Uint16Array,
    socket: Int32Array,
    ipv4: Uint32Array,
    port: Uint16Array,
    arrivedAt: Float64Array,
    count: number,
    left: Uint8Array,
    events: Float64Array,
  ): number
  advance(ids: Int32Array, count: number, nowMs: Ms, left: Uint8Array, events: Float64Array): number
  /** The call's slots in the grid of `run`, each `periodWakes` from the last; 0: it has none. */
  place(id: number, slot: number, periodWakes: number, nextWake: number): void
  /** Wakes until JavaScript is wanted; see `NativeTurns`. */
  run(
    sockets: object,
    state: Float64Array,
    words: Int32Array,
    bytes: Uint8Array,
    length: Uint16Array,
    socket: Int32Array,
    ipv4: Uint32Array,
    port: Uint16Array,
    arrivedAt: Float64Array,
    ids: Int32Array,
    slotMs: Float64Array,
    missed: Int32Array,
    outcome: Int8Array,
    events: Float64Array,
    buckets: Uint32Array,
    totals: Float64Array,
    recentBuckets: Uint32Array,
    recentTotals: Float64Array,
  ): number
}

/** UDP sockets of one thread; see `PacketIo`. */
export interface NativeSockets {
  /** Opens a socket; returns it, or the system's error number below 0. */
  open(ipv4: number, port: number): number
  port(socket: number): number
  close(socket: number): void
  /** Sleeps until `deadline`, for 100 ms at most. */
  wait(deadline: Ms): void
  poll(
    bytes: Uint8Array,
    length: Uint16Array,
    socket: Int32Array,
    ipv4: Uint32Array,
    port: Uint16Array,
    arrivedAt: Float64Array,
  ): number
  send(
    bytes: Uint8Array,
    length: Uint16Array,
    socket: Int32Array,
    ipv4: Uint32Array,
    port: Uint16Array,
    count: number,
  ): void
  /** Received, sent, receive dropped, send dropped. */
  counters(into: Float64Array): void
}

const ADDON = '../../native/build/media.node'
const ADDRESS_IN_USE = -98
/** Interval at which the event loop runs: only clean-up work of V8 and Node needs it. */
const TURN_EVERY_MS = 20

/** Loads the addon; returns the reason as one line if that is not possible. */
export function loadNativeAddon(): NativeAddon | string {
  if (process.platform !== 'linux') return `native packet I/O is made for Linux, this is ${process.platform}`
  try {
    return createRequire(import.meta.url)(ADDON) as NativeAddon
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'MODULE_NOT_FOUND')
      return 'native packet I/O is not built (scripts/ensure.mjs builds it where it finds a C++ compiler)'
    return `native packet I/O does not load: ${message.split('\n')[0]}`
  }
}

const CLOSE_MS: Ms = 0.05
const CLOSE_ATTEMPTS = 10

/**
 * What `make` makes of the time now, as quickly after the time was read as it can be had. A thread that loses its processor in between
 * would take its clock for slow by that long: it would sleep past each deadline. Tries until it takes at most 50 us, ten times
 * at most, and returns the closest.
 */
export function madeAtOnce<Made>(clock: () => Ms, make: (now: Ms) => Made): Made {
  let closest: { readonly made: Made; readonly tookMs: Ms } | null = null
  for (let attempt = 0; attempt < CLOSE_ATTEMPTS && !(closest !== null && closest.tookMs <= CLOSE_MS); attempt++) {
    const now = clock()
    const made = make(now)
    const tookMs = clock() - now
    if (closest === null || tookMs < closest.tookMs) closest = { made, tookMs }
  }
  return closest!.made
}

/**
 * Packet I/O in C++: kernel receive timestamps, one system call per packet sent, and a `wait` that sleeps in the kernel
 * and blocks the thread. The event loop runs every 20 ms; commands must be taken from their port directly.
 */
export class NativePacketIo implements PacketIo {
  readonly kind = 'native'
  readonly #sockets: NativeSockets
  readonly #counters = new Float64Array(4)
  #turnAt: Ms

  /** What the native path sends and receives by. */
  get sockets(): object {
    return this.#sockets
  }

  /** Throws `MediaError` "native_packet_io_unavailable". */
  constructor() {
    const addon = loadNativeAddon()
    if (typeof addon === 'string') throw new MediaError('native_packet_io_unavailable', addon)
    this.#sockets = madeAtOnce(
      () => performance.now(),
      now => new addon.PacketIo(now),
    )
    this.#turnAt = performance.now() + TURN_EVERY_MS
  }

  get counters(): PacketIoCounters {
    this.#sockets.counters(this.#counters)
    const [received, sent, receiveDropped, sendDropped] = this.#counters
    return { received: received!, sent: sent!, receiveDropped: receiveDropped!, sendDropped: sendDropped! }
  }

  async open(address: string, port: number): Promise<number> {
    const ipv4 = parseIpv4(address)
    if (ipv4 === null) throw new MediaError('bind_failed', `${address} is not an IPv4 address`)
    const socket = this.#sockets.open(ipv4, port)
    if (socket >= 0) return socket
    if (socket === ADDRESS_IN_USE) {
      throw new MediaError('address_in_use', `UDP ${address}:${port} is already bound`)
    }
    throw new MediaError('bind_failed', `UDP ${address}:${port} cannot be bound: system error ${-socket}`)
  }

  port(socket: number): number {
    return this.#sockets.port(socket)
  }

  now(): Ms {
    return performance.now()
  }

  async wait(deadline: Ms): Promise<void> {
    if (performance.now() >= this.#turnAt) {
      await new Promise(resolve => setImmediate(resolve))
      this.#turnAt = performance.now() + TURN_EVERY_MS
    }
    do this.#sockets.wait(deadline)
    while (performance.now() < deadline)
  }

  poll(batch: PacketBatch): number {
    return this.#sockets.poll(batch.bytes, batch.length, batch.socket, batch.ipv4, batch.port, batch.arrivedAt)
  }

  send(batch: PacketBatch, count: number): void {
    this.#sockets.send(batch.bytes, batch.length, batch.socket, batch.ipv4, batch.port, count)
  }

  close(socket: number): void {
    this.#sockets.close(socket)
  }
}
