import type { Ms, Random, Time, Timer, UnixMs } from '@parley/kernel'
import { MediaError } from '../errors.ts'
import { parseIpv4 } from '../packet-io/ipv4.ts'
import { PACKET_SLOT_BYTES } from '../packet-io/packet-io.ts'
import { PortPool } from '../ports/port-pool.ts'
import type { MediaPlane, MediaSession, MediaSessionOptions } from './media-session.ts'
import { MediaSessionCore } from './media-session-core.ts'
import { MediaSessionHandle } from './media-session-handle.ts'
import { SEND_SLOTS, WAKE_MS } from './send-slots.ts'
import type { SessionCommand, SessionReply } from './session-protocol.ts'
import { MemoryRecorder } from './session-recorder.ts'
import { SessionRings } from './session-rings.ts'
import type { VirtualPacketNetwork, VirtualSocket } from './virtual-packet-network.ts'

/** Tolerance for timers of a clock with a rate of its own, whose deadlines are rounded. */
const CLOCK_ROUNDING_MS = 1e-6

interface InlineMediaPlaneOptions {
  readonly time: Time
  readonly random: Random
  readonly network: VirtualPacketNetwork
  /** IPv4 address on the network; default 192.0.2.1. Planes of one network need different ones. */
  readonly address?: string
  /** Default 10000-19999. */
  readonly ports?: { readonly from: number; readonly to: number; readonly drainMs?: Ms }
  /** Wall clock at time 0, for RTCP; default 2026-01-01T00:00Z. */
  readonly unixAtZeroMs?: UnixMs
}

/**
 * Runs the sessions of media threads in place, on a `Time` and an in-memory network: a 40-minute call takes seconds and
 * has the same result each time. Every session is recorded in memory; no files are written.
 */
export class InlineMediaPlane implements MediaPlane {
  readonly #options: InlineMediaPlaneOptions
  readonly #ipv4: number
  readonly #address: string
  readonly #ports: PortPool
  readonly #sessions = new Map<number, InlineSession>()
  #nextSession = 1
  #closed = false

  constructor(options: InlineMediaPlaneOptions) {
    this.#options = options
    this.#address = options.address ?? '192.0.2.1'
    const ipv4 = parseIpv4(this.#address)
    if (ipv4 === null) throw new MediaError('unsupported_address', `${this.#address} is not an IPv4 address`)
    this.#ipv4 = ipv4
    this.#ports = new PortPool(options.ports ?? { from: 10000, to: 19999 })
  }

  /** Rejects with `MediaError` "no_rtp_port", "media_closed". */
  async open(options: MediaSessionOptions): Promise<MediaSession> {
    if (this.#closed) throw new MediaError('media_closed', 'the media plane is closed')
    const { time, random, network, unixAtZeroMs = Date.UTC(2026, 0, 1) } = this.#options
    const id = this.#nextSession++
    const port = this.#ports.lease(time.now())
    const rings = new SessionRings(options.format)
    const inline: InlineSession = new InlineSession({
      time,
      random,
      network,
      ipv4: this.#ipv4,
      port,
      slot: id % SEND_SLOTS,
      openedAtUnixMs: unixAtZeroMs + time.now(),
      rings,
      swapChannels: options.recording?.swapChannels ?? false,
      reply: reply => handle.deliver(reply),
    })
    const handle = new MediaSessionHandle({
      id,
      session: options,
      local: { address: this.#address, port },
      rings,
      post: command => inline.command(command),
      finish: () => {
        this.#ports.release(time.now(), port)
        return Promise.resolve(null)
      },
    })
    this.#sessions.set(id, inline)
    return handle
  }

  /**
   * Audio that a session of this plane received (left) and sent (right) on its sample clock so far; also after its
   * close.
   */
  captured(session: MediaSession): { readonly left: Int16Array; readonly right: Int16Array } {
    const inline = this.#sessions.get(session.id)
    if (inline === undefined) throw new MediaError('unknown_session', `session ${session.id} is not of this plane`)
    return inline.captured()
  }

  describe(): string {
    return `media: in place, ${this.#sessions.size} session(s), udp ${this.#address} in memory, ${this.#ports.leased} leased`
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const session of this.#sessions.values()) session.command({ type: 'close' })
  }
}

interface InlineSessionOptions {
  readonly time: Time
  readonly random: Random
  readonly network: VirtualPacketNetwork
  readonly ipv4: number
  readonly port: number
  readonly slot: number
  readonly openedAtUnixMs: UnixMs
  readonly rings: SessionRings
  readonly swapChannels: boolean
  readonly reply: (reply: SessionReply) => void
}

/** A session core with its sockets on the virtual network and a timer for its slot. */
class InlineSession {
  readonly #options: InlineSessionOptions
  readonly #core: MediaSessionCore
  readonly #recorder = new MemoryRecorder()
  readonly #rtp: VirtualSocket
  readonly #rtcp: VirtualSocket
  readonly #packet = new Uint8Array(PACKET_SLOT_BYTES)
  #slotMs: Ms
  #ptimeMs: Ms = 20
  #timer: Timer
  #closed = false

  constructor(options: InlineSessionOptions) {
    this.#options = options
    const { time, network, ipv4, port } = options
    const openedAtMs = time.now()
    this.#core = new MediaSessionCore({
      openedAtMs,
      openedAtUnixMs: options.openedAtUnixMs,
      rings: options.rings,
      recorder: this.#recorder,
      random: options.random,
      // As with a media thread, the owner gets events later, never within its own call.
      emit: event => time.at(time.now(), () => options.reply({ type: 'event', event })),
    })
    this.#rtp = network.bind(ipv4, port, (packet, length, from, fromPort) =>
      this.#core.receive(time.now(), packet, length, from, fromPort),
    )
    this.#rtcp = network.bind(ipv4, port + 1, (packet, length, from, fromPort) =>
      this.#core.receiveRtcp(time.now(), packet, length, from, fromPort),
    )
    this.#slotMs = openedAtMs + options.slot * WAKE_MS
    this.#timer = time.at(this.#slotMs, this.#tick)
  }

  command(command: SessionCommand): void {
    if (this.#closed) return
    const now = this.#options.time.now()
    switch (command.type) {
      case 'apply':
        this.#core.apply(now, command.parameters)
        this.#ptimeMs = command.parameters.ptimeMs
        return
      case 'digits':
        this.#core.sendDigits(command.digits, command.options)
        return
      case 'background':
        this.#core.setBackground(command.loop, command.gain)
        break
      case 'listen':
        this.#core.listen(command.listener, command.memory)
        return
      case 'detect-voice':
        this.#core.detectVoice(command.options)
        return
      case 'statistics':
        this.#answer({ type: 'statistics', statistics: this.#core.statistics() })
        return
      case 'close':
        this.#close(now)
        return
    }
  }

  captured(): { readonly left: Int16Array; readonly right: Int16Array } {
    const { left, right } = this.#recorder.channels()
    return this.#options.swapChannels ? { left: right, right: left } : { left, right }
  }

  readonly #tick = (): void => {
    const core = this.#core
    const now = this.#options.time.now()
    // After a stall, as on a media thread: packets that waited are received first, then the newest slot is sent.
    const missed = Math.max(0, Math.floor((now - this.#slotMs + CLOCK_ROUNDING_MS) / this.#ptimeMs))
    this.#slotMs += missed * this.#ptimeMs
    const length = core.tick(this.#slotMs, this.#packet)
    if (length > 0) this.#rtp.send(this.#packet, length, core.ipv4, core.port)
    const report = core.tickRtcp(now, this.#packet)
    if (report > 0) this.#sendRtcp(report)
    if (missed === 0) core.advance(now)
    this.#slotMs += this.#ptimeMs
    this.#timer = this.#options.time.at(this.#slotMs, this.#tick)
  }

  #close(now: Ms): void {
    this.#closed = true
    this.#timer.cancel()
    const length = this.#core.close(now, this.#packet)
    if (length > 0) this.#sendRtcp(length)
    this.#rtp.close()
    this.#rtcp.close()
    this.#answer({ type: 'closed', statistics: this.#core.statistics() })
  }

  #sendRtcp(length: number): void {
    const { rtcpMux, rtcpIpv4, rtcpPort } = this.#core
    const socket = rtcpMux ? this.#rtp : this.#rtcp
    socket.send(this.#packet, length, rtcpIpv4, rtcpPort)
  }

  /** Replies to requests are delivered even while virtual time stands still. */
  #answer(reply: SessionReply): void {
    queueMicrotask(() => this.#options.reply(reply))
  }
}
