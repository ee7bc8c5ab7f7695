import { type Ms, msToSamples, type Random, type UnixMs } from '@parley/kernel'
import { isRtcp } from '../rtp/rtp-packet.ts'
import type { SrtpTransforms } from '../srtp/srtp-transform.ts'
import { AudioTaps } from './call-mix.ts'
import { CallPage } from './call-page.ts'
import { InboundChain } from './inbound-chain.ts'
import type { MediaStatistics, VoiceDetection } from './media-session.ts'
import { OutboundChain } from './outbound-chain.ts'
import type { PathCall } from './path-call.ts'
import { ReceptionIntervals } from './reception-intervals.ts'
import { RtcpReports } from './rtcp-reports.ts'
import type { AppliedParameters, CoreEvent, DigitOptions } from './session-protocol.ts'
import type { SessionRecorder } from './session-recorder.ts'
import { SessionRings } from './session-rings.ts'
import { SessionCounters } from './session-statistics.ts'

interface MediaSessionCoreOptions {
  /** Time of position 0 on the session's sample clock. */
  readonly openedAtMs: Ms
  readonly openedAtUnixMs: UnixMs
  /** Rings of playout and heard audio; their format is the session's. */
  readonly rings: SessionRings
  /** Recorder of audio in the format of `rings`. */
  readonly recorder: SessionRecorder | null
  /** Source of the first SSRC, sequence number and timestamp, of the CNAME and of the report intervals. */
  readonly random: Random
  /** Makes the transforms of SRTP; default: portable ones. */
  readonly transforms?: SrtpTransforms
  /** Rarely called; never throws. */
  readonly emit: (event: CoreEvent) => void
}

/**
 * Processes one call's packets: everything between its two sockets and its rings, without a clock, a socket or a thread
 * of its own. The driver passes in what arrived, asks for the packet of the call's slot, and sends it to `ipv4:port`
 * (RTP) or `rtcpIpv4:rtcpPort`.
 */
export class MediaSessionCore {
  readonly #options: MediaSessionCoreOptions
  readonly #page = new CallPage()
  readonly #counters = new SessionCounters(this.#page.counters)
  readonly #inbound: InboundChain
  readonly #outbound: OutboundChain
  readonly #rtcp: RtcpReports
  readonly #intervals: ReceptionIntervals
  readonly #taps: AudioTaps
  /** The call in a native path; null: there is none. */
  #path: PathCall | null = null
  #applied = false
  #closed = false

  constructor(options: MediaSessionCoreOptions) {
    this.#options = options
    const counters = this.#counters
    const { format } = options.rings
    const page = this.#page
    this.#taps = new AudioTaps(options.recorder)
    const chain = { ...options, recorder: this.#taps }
    this.#inbound = new InboundChain({ ...chain, format, counters, page })
    this.#outbound = new OutboundChain({ ...chain, format, counters, page, receiveKeys: this.#inbound.keys })
    this.#intervals = new ReceptionIntervals(options.openedAtMs, page.intervals)
    this.#rtcp = new RtcpReports({
      ...options,
      counters,
      inbound: this.#inbound,
      outbound: this.#outbound,
      schedule: page.reports,
    })
  }

  /** Memory that a native path works on; `recording` is null where the recorder has none. */
  get shared(): {
    readonly page: SharedArrayBuffer
    readonly rings: SharedArrayBuffer
    readonly recording: SharedArrayBuffer | null
  } {
    const { rings, recorder } = this.#options
    return { page: this.#page.memory, rings: rings.memory, recording: recorder?.memory ?? null }
  }

  /** State that a native path shares. */
  get page(): CallPage {
    return this.#page
  }

  /**
   * A native path processes this call's regular packets from now on; null: no longer. A recorder that it cannot write prevents that, and
   * those who listen to the call do as long as they listen.
   */
  useNative(call: PathCall | null): void {
    this.#path = call
    this.#choosePath()
  }

  #choosePath(): void {
    const { recorder } = this.#options
    const isWritable = recorder === null || recorder.memory !== undefined
    const used = isWritable && !this.#taps.isHeard ? this.#path : null
    this.#inbound.useNative(used)
    this.#outbound.useNative(used)
  }

  /** Reports what a native path found. */
  report(event: CoreEvent): void {
    this.#options.emit(event)
  }

  /** Applies parameters, which `checkedParameters` has validated. */
  apply(nowMs: Ms, parameters: AppliedParameters): void {
    if (this.#closed) return
    this.#applied = true
    const keyChanged = this.#inbound.apply(nowMs, parameters)
    this.#outbound.apply(nowMs, parameters, keyChanged)
    this.#rtcp.apply(nowMs, parameters)
  }

  sendDigits(digits: string, options: DigitOptions): void {
    this.#outbound.sendDigits(digits, options)
  }

  setBackground(loop: Int16Array | null, gain: number): void {
    this.#outbound.setBackground(loop, gain)
  }

  /** Mixes both directions into the outbound ring of session `listener`, whose rings are in `memory`; null: no more. */
  listen(listener: number, memory: SharedArrayBuffer | null): void {
    const { format } = this.#options.rings
    this.#taps.listen(listener, memory === null ? null : new SessionRings(format, memory))
    this.#choosePath()
  }

  detectVoice(options: VoiceDetection): void {
    this.#inbound.detectVoice(options)
  }

  get ipv4(): number {
    return this.#inbound.latch.ipv4
  }

  /** Port to send to; 0: nothing is to be sent. */
  get port(): number {
    return this.#inbound.latch.port
  }

  get rtcpIpv4(): number {
    return this.#rtcp.ipv4
  }

  get rtcpPort(): number {
    return this.#rtcp.port
  }

  /** Whether RTCP is sent over the RTP port (RFC 5761). */
  get rtcpMux(): boolean {
    return this.#rtcp.isMuxed
  }

  /** Processes a packet of the RTP port; decrypts it in place. */
  receive(nowMs: Ms, packet: Uint8Array, length: number, ipv4: number, port: number): void {
    if (!this.#applied || this.#closed) return
    if (isRtcp(packet, length)) this.#rtcp.receive(nowMs, packet, length, ipv4, port, false)
    else this.#inbound.receive(nowMs, packet, length, ipv4, port)
  }

  /** Processes a packet of the RTCP port. */
  receiveRtcp(nowMs: Ms, packet: Uint8Array, length: number, ipv4: number, port: number): void {
    if (!this.#applied || this.#closed) return
    this.#rtcp.receive(nowMs, packet, length, ipv4, port, true)
  }

  /** The call's send slot at `slotMs`: writes one RTP packet to `dst` and returns its length, or 0. */
  tick(slotMs: Ms, dst: Uint8Array): number {
    return this.#applied && !this.#closed && this.port !== 0 ? this.#outbound.tick(slotMs, dst) : 0
  }

  /**
   * Advances the inbound side where nothing arrives: once per packet time, after all packets that have arrived were
   * passed in (otherwise they would count as late).
   */
  advance(nowMs: Ms): void {
    if (!this.#applied || this.#closed) return
    this.#inbound.advance(nowMs)
    if (this.#intervals.due(nowMs)) this.#endInterval(nowMs)
  }

  /** Writes the RTCP report that is due; returns its length, or 0. */
  tickRtcp(nowMs: Ms, dst: Uint8Array): number {
    return this.#applied && !this.#closed ? this.#rtcp.tick(nowMs, dst) : 0
  }

  /** Ends the recording and writes the RTCP BYE; returns its length, or 0. */
  close(nowMs: Ms, dst: Uint8Array): number {
    if (this.#closed) return 0
    if (this.#applied) {
      this.#inbound.advance(nowMs)
      this.#endInterval(nowMs)
    }
    const { rings, openedAtMs } = this.#options
    this.#taps.end(msToSamples(nowMs - openedAtMs, rings.format))
    const length = this.#applied ? this.#rtcp.bye(nowMs, dst) : 0
    this.#closed = true
    this.useNative(null)
    return length
  }

  /** RTP clock rate of the agreed codec, per millisecond. */
  get #ticksPerMs(): number {
    return this.#inbound.clockRate / 1000
  }

  #endInterval(nowMs: Ms): void {
    const { lost, stream, reception } = this.#inbound
    this.#intervals.end(nowMs, {
      received: this.#counters.packetsReceived,
      lost: lost + stream.late,
      jitterSum: reception.jitterSum / this.#ticksPerMs,
      jitterCount: reception.jitterCount,
    })
  }

  statistics(): MediaStatistics {
    const counters = this.#counters
    const { stream, reception } = this.#inbound
    const { roundTripMs, roundTripMaxMs, reception: farEndReception } = this.#rtcp.farEnd
    return {
      packetsSent: counters.packetsSent,
      packetsReceived: counters.packetsReceived,
      packetsLost: this.#inbound.lost,
      packetsLate: stream.late,
      packetsDuplicate: stream.duplicate,
      jitterMs: reception.jitterTicks / this.#ticksPerMs,
      jitterMeanMs: reception.jitterCount === 0 ? 0 : reception.jitterSum / reception.jitterCount / this.#ticksPerMs,
      jitterMaxMs: reception.jitterMaxTicks / this.#ticksPerMs,
      roundTrip: roundTripMs === null ? null : { meanMs: roundTripMs, maxMs: roundTripMaxMs },
      farEnd: farEndReception,
      intervals: this.#intervals.intervals,
      concealedSamples: stream.concealedSamples,
      mediaConflicts: this.#inbound.latch.conflicts,
      sourcesRefused: this.#inbound.latch.refused + this.#rtcp.sourcesRefused,
      rejected: {
        unauthenticated: counters.unauthenticated,
        replayed: counters.replayed,
        foreign: counters.foreign,
        malformed: counters.malformed,
      },
      heardOverrunSamples: this.#options.rings.heardOverrun(),
      missedSlots: counters.missedSlots,
    }
  }
}
