import {
  type AudioFormat,
  type Ms,
  msToSamples,
  NARROWBAND,
  type RtpTicks,
  type Samples,
  type Seq16,
  samplesToMs,
} from '@parley/kernel'
import { wordsClass } from '../page/words.ts'
import { Concealment, type ConcealmentMemory } from './concealment.ts'
import { type PayloadDecoder, ReorderBuffer, type ReorderMemory } from './reorder-buffer.ts'
import { SourceClock, TOO_EARLY, TOO_LATE } from './source-clock.ts'

interface ReceiveStreamOptions {
  /** Time of position 0 on the session's sample clock. */
  readonly openedAtMs: Ms
  /** Format of the audio that decoders produce and `pull` returns; default 8 kHz. RTP timestamps count at the clock rate of the decoder. */
  readonly format?: AudioFormat
  /**
   * Longest wait for a missing packet, and the lateness up to which a packet still counts, as long as none came later; ms, default 40.
   */
  readonly holdMs?: Ms
  readonly memory?: StreamMemory | undefined
}

/**
 * `holdMs`: lateness up to which a packet counts at present. `law`: of the decoder that was used last, see `PayloadDecoder`. The packet that follows a gap has `packetLeft` samples from
 * `packetAt` on. `tooLate`: packets that were next in sequence, but whose place had been filled.
 */
export const StreamWords = wordsClass(
  'position',
  'silent',
  'held',
  'gapUntil',
  'gapSilent',
  'packetAt',
  'packetLeft',
  'packetBegun',
  'lastPullMs',
  'stallOver',
  'law',
  'stalledSince',
  'tooLate',
  'early',
  'concealedSamples',
  'holdMs',
)

/** Where a stream keeps its state; default memory of its own. */
export interface StreamMemory {
  readonly state: Float64Array
  readonly clock: Float64Array
  readonly skew: Float64Array
  readonly concealment: ConcealmentMemory
  readonly reorder: ReorderMemory
}

/** A gap between contiguous packets that is no longer than this is bridged like a loss; a longer one was silence. */
const BRIDGED_MS: Ms = 20
const OLDEST_ASKED_MS: Ms = 60_000
const MAX_AHEAD_ASKED_MS: Ms = 200
/** After a longer pause between two pulls the thread was stalled: packets of that time are still to come. */
const STALL_MS = 60
const STALL_GRACE_MS = 10

/** A stream waits for packets that come up to this late once one has. */
const MOST_HOLD_MS: Ms = 120
/** With each packet in time it waits less long: 20 ms less in 25 s. */
const SHORTER_HOLD_MS: Ms = 1 / 64

const NO_PAYLOAD = new Uint8Array(0)
const NO_AUDIO = new Int16Array(0)

/**
 * Turns packets as they arrive into one continuous stream on the session's sample clock, for a machine listener: no
 * playout delay beyond re-ordering. A source's first packet is placed at the moment it arrived, the others by their
 * timestamps (see `SourceClock`); gaps are filled (concealed for 60 ms, then silent), never closed up.
 * Each wake: `push` or `skip` everything that arrived, then `pull` until it returns 0.
 */
export class ReceiveStream {
  readonly #openedAtMs: Ms
  #holdMs: Ms
  readonly #reorder: ReorderBuffer
  readonly #clock: SourceClock
  readonly #concealment: Concealment
  readonly #format: AudioFormat
  readonly #bridged: Samples
  readonly #state: InstanceType<typeof StreamWords>
  /** Decoder of the last packet with audio; null before the first packet of a source. */
  #decoder: PayloadDecoder | null = null
  /** The packet that follows the gap, and the lost one before it, which it may restore; as long as the longest yet. */
  #packet = NO_AUDIO

  constructor(options: ReceiveStreamOptions) {
    this.#openedAtMs = options.openedAtMs
    this.#state = new StreamWords(options.memory?.state)
    this.#state.silent = 1
    this.#state.gapSilent = 1
    this.#state.lastPullMs = options.openedAtMs
    this.#state.stallOver = Number.NEGATIVE_INFINITY
    this.#holdMs = options.holdMs ?? 40
    this.#state.holdMs = this.#holdMs
    const format = options.format ?? NARROWBAND
    this.#format = format
    this.#bridged = msToSamples(BRIDGED_MS, format)
    this.#clock = new SourceClock(format, options.memory?.clock, options.memory?.skew)
    this.#concealment = new Concealment(format, options.memory?.concealment)
    this.#reorder = new ReorderBuffer({ holdMs: this.#holdMs, memory: options.memory?.reorder })
  }

  /** Sample-clock position of the next sample that `pull` returns. */
  get position(): Samples {
    return this.#state.position
  }

  get late(): number {
    return this.#reorder.late + this.#state.tooLate
  }

  /** Samples generated for lost or late packets; silence does not count. */
  get concealedSamples(): Samples {
    return this.#state.concealedSamples
  }

  /** Packets refused because they would lie more than 200 ms ahead of their time. */
  get early(): number {
    return this.#state.early
  }

  get duplicate(): number {
    return this.#reorder.duplicate
  }

  /** Packets that were given up; one that arrives later is also counted as late. */
  get lost(): number {
    return this.#reorder.lost
  }

  /**
   * How often a packet was placed by its time of arrival: the first of each source, and after a jump of the sender's
   * clock.
   */
  get anchors(): number {
    return this.#clock.anchors
  }

  /** Samples inserted less samples removed for clock skew. */
  get skewCorrection(): Samples {
    return this.#clock.skewCorrection
  }

  /**
   * Accepts the payload of one packet (at most 960 bytes, copied); `decoder` decodes it in order of sequence. Returns
   * false when the packet was dropped: late, duplicate, too long or out of line.
   */
  push(
    ssrc: number,
    sequence: Seq16,
    timestamp: RtpTicks,
    decoder: PayloadDecoder,
    packet: Uint8Array,
    offset: number,
    length: number,
    nowMs: Ms,
  ): boolean {
    return this.#reorder.push(ssrc, sequence, timestamp, decoder, packet, offset, length, nowMs)
  }

  /** A packet of the same stream without audio (telephone-event): takes its place in the sequence, sounds as silence. */
  skip(ssrc: number, sequence: Seq16, nowMs: Ms): boolean {
    return this.#reorder.push(ssrc, sequence, 0, null, NO_PAYLOAD, 0, 0, nowMs)
  }

  /** Changes the longest wait for a missing packet. */
  waitFor(holdMs: Ms): void {
    this.#holdMs = holdMs
    this.#state.holdMs = holdMs
    this.#reorder.waitFor(holdMs)
  }

  /**
   * While `held` (a hold by offer/answer), gaps are silent instead of concealed; packets in flight are still accepted.
   */
  hold(held: boolean): void {
    this.#state.held = held ? 1 : 0
    if (!held) this.#state.silent = 1
  }

  /** Copies what is due at `nowMs` to `into` and returns how many samples; 0 when there is nothing more at this time. */
  pull(nowMs: Ms, into: Int16Array): Samples {
    const overdue = msToSamples(this.#fillTime(nowMs) - this.#openedAtMs, this.#format)
    let done = 0
    while (done < into.length) {
      const room = into.length - done
      if (this.#state.gapUntil > this.#state.position) done += this.#fillGap(into, done, room)
      else if (this.#state.packetLeft > 0) done += this.#copyPacket(into, done, room)
      else if (this.#reorder.ready(nowMs)) this.#takePacket()
      else if (overdue > this.#state.position) this.#giveUpWaiting(overdue)
      else break
    }
    return done
  }

  /**
   * Position of `timestamp` on the sample clock; -1 before the first packet, and for a timestamp more than a minute old
   * or 200 ms ahead, which belongs to another clock.
   */
  positionOf(timestamp: RtpTicks): Samples {
    if (!this.#clock.anchored) return -1
    const place = this.#clock.place(timestamp)
    const oldest = this.#state.position - msToSamples(OLDEST_ASKED_MS, this.#format)
    const newest = this.#state.position + msToSamples(MAX_AHEAD_ASKED_MS, this.#format)
    return place < oldest || place > newest ? -1 : Math.max(0, place)
  }

  /** Time up to which the stream is filled even where packets are missing. */
  #fillTime(nowMs: Ms): Ms {
    if (nowMs - this.#state.lastPullMs > STALL_MS) {
      this.#state.stalledSince = this.#state.lastPullMs
      this.#state.stallOver = nowMs + STALL_GRACE_MS
    }
    this.#state.lastPullMs = Math.max(this.#state.lastPullMs, nowMs)
    return (nowMs < this.#state.stallOver ? this.#state.stalledSince : nowMs) - this.#state.holdMs
  }

  #fillGap(into: Int16Array, at: number, room: Samples): Samples {
    const count = Math.min(room, this.#state.gapUntil - this.#state.position)
    if (this.#state.gapSilent !== 0) this.#concealment.silence(into, at, count)
    else this.#state.concealedSamples += this.#concealment.conceal(into, at, count)
    this.#state.position += count
    return count
  }

  #copyPacket(into: Int16Array, at: number, room: Samples): Samples {
    if (this.#state.packetBegun === 0) {
      this.#state.packetBegun = 1
      this.#concealment.good(this.#packet, this.#state.packetAt, this.#state.packetLeft)
    }
    const count = Math.min(room, this.#state.packetLeft)
    for (let i = 0; i < count; i++) into[at + i] = this.#packet[this.#state.packetAt + i]!
    this.#state.packetAt += count
    this.#state.packetLeft -= count
    this.#state.position += count
    return count
  }

  /** No packet arrived in time: fills the gap, but not over a packet that waits for earlier ones. */
  #giveUpWaiting(overdue: Samples): void {
    this.#state.gapSilent = this.#isQuiet ? 1 : 0
    this.#state.gapUntil = overdue
    if (!this.#clock.anchored || !this.#reorder.reach() || this.#reorder.decoder === null) return
    const held = this.#clock.place(this.#reorder.timestamp)
    if (held <= this.#state.position) this.#takePacket()
    else this.#state.gapUntil = Math.min(overdue, held)
  }

  /**
   * Removes the loaded packet from the re-order buffer, decodes it, places it and plans the gap before it; or drops it.
   */
  #takePacket(): void {
    const { decoder, timestamp, arrivedAt, missing, restarted } = this.#reorder
    this.#state.gapUntil = this.#state.position
    if (restarted) {
      this.#clock.forget()
      this.#use(null)
      this.#state.holdMs = this.#holdMs
    }
    if (decoder !== null) this.#clock.use(decoder.clockRate)
    const recovered = decoder === null || missing === 0 ? 0 : this.#recover(decoder)
    const count = decoder === null ? 0 : this.#decode(decoder)
    this.#reorder.release()
    if (decoder === null || count === 0) {
      this.#state.silent = 1
      return
    }
    const audio = decoder.samples
    const arrival = msToSamples(arrivedAt - this.#openedAtMs, this.#format)
    const place = this.#clock.admit(timestamp, audio, count, arrival, arrivedAt, this.#state.position)
    if (place !== TOO_EARLY) this.#adaptHold(samplesToMs(arrival - this.#clock.place(timestamp), this.#format))
    if (place === TOO_LATE) this.#state.tooLate++
    else if (place === TOO_EARLY) this.#state.early++
    else this.#plan(place, audio, count, missing, recovered)
  }

  /** A packet came this late. One that came later than can be waited for says nothing about the next ones. */
  #adaptHold(lateMs: Ms): void {
    const { holdMs } = this.#state
    if (lateMs <= holdMs) this.#state.holdMs = Math.max(this.#holdMs, holdMs - SHORTER_HOLD_MS)
    else if (lateMs <= MOST_HOLD_MS) this.#state.holdMs = lateMs
  }

  /** Gaps are silent: the source sends nothing, or packets without audio, or is on hold. */
  get #isQuiet(): boolean {
    return this.#state.silent !== 0 || this.#state.held !== 0
  }

  #use(decoder: PayloadDecoder | null): void {
    this.#decoder = decoder
    this.#state.law = decoder?.law ?? 0
  }

  #decode(decoder: PayloadDecoder): Samples {
    // A source that begins, or changes to this codec, begins with the codec's first state.
    if (decoder !== this.#decoder) decoder.restart()
    this.#use(decoder)
    return decoder.decode(this.#reorder.payload, 0, this.#reorder.length)
  }

  /** Restores the packet before the loaded one to the start of `#packet`, if the codec can; returns how many samples. */
  #recover(decoder: PayloadDecoder): Samples {
    if (decoder !== this.#decoder || decoder.recover === undefined) return 0
    const count = decoder.recover(this.#reorder.payload, 0, this.#reorder.length)
    this.#reserve(count)
    for (let i = 0; i < count; i++) this.#packet[i] = decoder.samples[i]!
    return count
  }

  /** Makes `#packet` as long as this; what it holds stays. */
  #reserve(count: Samples): void {
    if (this.#packet.length >= count) return
    const held = this.#packet
    this.#packet = new Int16Array(count)
    this.#packet.set(held)
  }

  /** `recovered`: samples at the start of `#packet` that belong before `audio`; dropped when their place has been filled. */
  #plan(place: Samples, audio: Int16Array, count: Samples, missing: number, recovered: Samples): void {
    const lead = place - recovered >= this.#state.position ? recovered : 0
    const start = place - lead
    const gap = Math.max(0, start - this.#state.position)
    this.#state.gapUntil = this.#state.position + gap
    this.#state.gapSilent = this.#isQuiet || (missing === 0 && gap > this.#bridged) ? 1 : 0
    this.#state.silent = 0
    this.#reserve(lead + count)
    for (let i = 0; i < count; i++) this.#packet[lead + i] = audio[i]!
    this.#state.packetAt = Math.max(0, this.#state.position - start)
    this.#state.packetLeft = lead + count - this.#state.packetAt
    this.#state.packetBegun = 0
    if (this.#state.packetAt > 0) this.#concealment.join()
  }
}
