import {
  type AudioFormat,
  FRAME_MS,
  type Ms,
  msToSamples,
  type Random,
  type RtpTicks,
  randomUint32,
  type Samples,
} from '@parley/kernel'
import { BackgroundSound } from '../ambient/background-sound.ts'
import { codecByName } from '../codec/codecs.ts'
import { ComfortNoise } from '../dsp/comfort-noise.ts'
import { TelephoneEventSender } from '../dtmf/telephone-event-sender.ts'
import { RTP_HEADER_BYTES, writeRtpHeader } from '../rtp/rtp-packet.ts'
import type { SrtpSender } from '../srtp/srtp-sender.ts'
import type { RtpTransform, SrtpTransforms } from '../srtp/srtp-transform.ts'
import { type CallPage, OutboundWords } from './call-page.ts'
import { EncodingStream } from './codec-streams.ts'
import type { MediaParameters } from './media-session.ts'
import type { PathCall } from './path-call.ts'
import type { ReceiveKeys } from './receive-keys.ts'
import { SendKeys } from './send-keys.ts'
import type { CoreEvent, DigitOptions } from './session-protocol.ts'
import type { SessionRecorder } from './session-recorder.ts'
import type { SessionRings } from './session-rings.ts'
import type { SessionCounters } from './session-statistics.ts'

const MAX_FRAME_MS: Ms = 60
/**
 * Interval between reports of playout: with any packet time at most 200 ms. The owner refills a ring of 2 s when it
 * gets them.
 */
const PROGRESS_MS: Ms = 180
/**
 * The first sequence number is below this (RFC 4568 section 6.4), so that a receiver that misses the first packets does
 * not miss a wrap with them, and with the wrap the rollover counter.
 */
const FIRST_SEQUENCE_LIMIT = 0x8000

interface OutboundChainOptions {
  readonly openedAtMs: Ms
  readonly format: AudioFormat
  readonly rings: SessionRings
  readonly recorder: SessionRecorder | null
  readonly counters: SessionCounters
  readonly random: Random
  /** Keys of the inbound side: they show when the peer has switched. */
  readonly receiveKeys: ReceiveKeys
  /** State that the native path shares. */
  readonly page: CallPage
  /** Default: portable ones. */
  readonly transforms?: SrtpTransforms
  readonly emit: (event: CoreEvent) => void
}

/**
 * From queued audio to a packet: playout ring or silence, with the background under both, or a telephone-event instead, then
 * codec, header and SRTP. A packet is sent in every slot while the direction allows it. Timestamps are positions on the sample
 * clock, so they advance over missed slots, holds and slot changes; the sequence counts packets only.
 */
export class OutboundChain {
  readonly #options: OutboundChainOptions
  readonly #keys: SendKeys
  readonly #state: InstanceType<typeof OutboundWords>
  /** The call in the native path; null: there is none. */
  #native: PathCall | null = null
  /** What the native path seals packets with; undefined: nothing was set. */
  #nativeTransform: RtpTransform | null | undefined
  readonly #digits = new TelephoneEventSender()
  readonly #silence = new ComfortNoise()
  readonly #frame: Int16Array
  #background: BackgroundSound | null = null
  readonly #progressSamples: Samples
  #clockRate: number
  #encoding: EncodingStream
  #dtmfPayloadType = -1
  #sending = false

  constructor(options: OutboundChainOptions) {
    const { format } = options
    this.#options = options
    this.#state = new OutboundWords(options.page.outbound)
    this.#state.end = -1
    this.#state.resuming = 1
    this.#keys = new SendKeys(options.transforms)
    this.#frame = new Int16Array(msToSamples(MAX_FRAME_MS, format))
    this.#state.frameSamples = msToSamples(FRAME_MS, format)
    this.#progressSamples = msToSamples(PROGRESS_MS, format)
    this.#encoding = new EncodingStream(codecByName('PCMU'), format)
    this.#clockRate = this.#encoding.codec.clockRate
    this.#state.ssrc = randomUint32(options.random)
    this.#state.timestampBase = randomUint32(options.random)
    this.#state.sequence = randomUint32(options.random) & (FIRST_SEQUENCE_LIMIT - 1)
  }

  get ssrc(): number {
    return this.#state.ssrc
  }

  /** RTP clock rate of the codec, Hz. */
  get clockRate(): number {
    return this.#clockRate
  }

  /** The native path composes regular packets from now on; null: no longer. */
  useNative(call: PathCall | null): void {
    this.#native = call
    this.#nativeTransform = undefined
    this.#settle()
  }

  apply(nowMs: Ms, parameters: MediaParameters, receiveKeyChanged: boolean): void {
    this.#keys.apply(nowMs, parameters.srtp, receiveKeyChanged)
    const codec = codecByName(parameters.codec)
    const { codecFmtp = null } = parameters
    if (codec !== this.#encoding.codec || codecFmtp !== this.#encoding.peerFmtp)
      this.#encoding = new EncodingStream(codec, this.#options.format, codecFmtp)
    this.#changeClock(nowMs, codec.clockRate)
    this.#state.payloadType = parameters.payloadType
    this.#dtmfPayloadType = parameters.dtmfPayloadType ?? -1
    if (this.#dtmfPayloadType < 0) this.#digits.cancel()
    this.#state.frameSamples = msToSamples(parameters.ptimeMs, this.#options.format)
    const mayHear = parameters.direction === 'sendrecv' || parameters.direction === 'sendonly'
    this.#sending = mayHear && parameters.remote !== null && parameters.remote.port !== 0
    if (!this.#sending) this.#state.resuming = 1
    this.#settle()
  }

  setBackground(loop: Int16Array | null, gain: number): void {
    this.#background = loop === null || loop.length === 0 ? null : new BackgroundSound(loop, gain)
    this.#settle()
  }

  sendDigits(digits: string, options: DigitOptions): void {
    this.#digits.enqueue(digits, options)
    this.#settle()
  }

  /** The SRTP context to send with; null on plain RTP. */
  sender(nowMs: Ms): SrtpSender | null {
    return this.#keys.sender(nowMs, this.#options.receiveKeys.proven)
  }

  /** The peer reports that this share of our packets is lost on their way to it, 0 to 1. */
  reportLoss(share: number): void {
    this.#encoding.reportLoss(share)
  }

  /** RTP timestamp of the moment `nowMs`. */
  timestampAt(nowMs: Ms): RtpTicks {
    return this.#timestampOf(msToSamples(nowMs - this.#options.openedAtMs, this.#options.format))
  }

  /** Writes the packet of the slot at `slotMs` to `dst`; returns its length, or 0 when nothing is to be sent. */
  tick(slotMs: Ms, dst: Uint8Array): number {
    const length = this.#sending ? this.#compose(slotMs, dst) : 0
    this.#settle()
    return length
  }

  #compose(slotMs: Ms, dst: Uint8Array): number {
    const { counters, openedAtMs, format } = this.#options
    const position = msToSamples(slotMs - openedAtMs, format)
    // After a change of slot the first one may overlap audio that was sent already.
    if (position < this.#state.end) return 0
    if (this.#state.resuming === 0)
      counters.missedSlots += Math.floor((position - this.#state.end) / this.#state.frameSamples)
    const timestamp = this.#timestampOf(position)
    const ticks = this.#ticksOf(this.#state.frameSamples)
    const event = this.#dtmfPayloadType < 0 ? 0 : this.#digits.write(timestamp, ticks, dst, RTP_HEADER_BYTES)
    let length = RTP_HEADER_BYTES
    if (event > 0) {
      const { marker, timestamp: begun } = this.#digits
      writeRtpHeader(dst, this.#dtmfPayloadType, marker, this.#state.sequence, begun, this.ssrc)
      length += event
    } else {
      writeRtpHeader(
        dst,
        this.#state.payloadType,
        this.#state.resuming !== 0,
        this.#state.sequence,
        timestamp,
        this.ssrc,
      )
      const isSilence = !this.#fill(position)
      const bytes = this.#encoding.encode(this.#frame, this.#state.frameSamples, dst, RTP_HEADER_BYTES, isSilence)
      // The codec has nothing to send (DTX, RFC 7587 section 3.1.3): the timestamps show it, the sequence does not.
      if (bytes === 0) return this.#pause(position)
      length += bytes
    }
    counters.octetsSent += length - RTP_HEADER_BYTES
    this.#reportDigits()
    const sender = this.sender(slotMs)
    if (sender !== null) length = sender.protect(dst, length)
    this.#state.sequence = (this.#state.sequence + 1) & 0xffff
    this.#state.end = position + this.#state.frameSamples
    this.#state.resuming = 0
    if (length <= 0) return 0
    counters.packetsSent++
    return length
  }

  #pause(position: Samples): number {
    this.#state.end = position + this.#state.frameSamples
    this.#state.resuming = 1
    return 0
  }

  /** Fills the frame; returns whether anything plays. */
  #fill(position: Samples): boolean {
    const { rings, recorder } = this.#options
    const wanted = this.#state.frameSamples
    const taken = this.#digits.active ? 0 : rings.takeOutbound(this.#frame, wanted)
    if (taken < wanted) this.#silence.write(this.#frame, taken, wanted - taken)
    this.#background?.mixInto(this.#frame, wanted)
    recorder?.writeRight(position, this.#frame, 0, wanted)
    if (!this.#digits.active) this.#reportProgress(position, taken)
    return taken > 0 || this.#background !== null
  }

  /** Decides whether the native path may compose the next packets: after everything that can change the answer. */
  #settle(): void {
    const call = this.#native
    this.#state.law = this.#encoding.law
    this.#state.ready = call !== null && this.#isRegular() && this.#sealsNatively(call) ? 1 : 0
  }

  #isRegular(): boolean {
    const { law, frameSamples } = this.#state
    return (
      this.#sending &&
      law !== 0 &&
      frameSamples <= this.#frame.length &&
      !this.#digits.active &&
      this.#background === null
    )
  }

  /** Gives the call the transform of the key in use. */
  #sealsNatively(call: PathCall): boolean {
    const transform = this.#keys.secure ? this.#keys.share(this.ssrc, this.#options.page.sealed) : null
    if (this.#keys.secure && transform === null) return false
    if (transform === this.#nativeTransform) return true
    this.#nativeTransform = call.sealWith(transform) ? transform : undefined
    return this.#nativeTransform !== undefined
  }

  #timestampOf(position: Samples): RtpTicks {
    return (this.#state.timestampBase + this.#ticksOf(position)) >>> 0
  }

  #ticksOf(samples: Samples): RtpTicks {
    return Math.floor((samples * this.#clockRate) / this.#options.format.sampleRateHz)
  }

  /** Timestamps go on from where they are at the new rate. */
  #changeClock(nowMs: Ms, clockRate: number): void {
    if (clockRate === this.#clockRate) return
    const now = this.timestampAt(nowMs)
    this.#clockRate = clockRate
    this.#digits.ticksPerMs = clockRate / 1000
    this.#state.timestampBase = (now - this.timestampAt(nowMs) + this.#state.timestampBase) >>> 0
  }

  #reportProgress(position: Samples, taken: Samples): void {
    const { rings, emit } = this.#options
    if (taken === 0) {
      if (this.#state.playing === 0) return
      this.#state.playing = 0
      emit({ type: 'play-progress', taken: rings.outboundTaken(), atSample: position, idle: true })
      return
    }
    if (this.#state.playing === 0) this.#state.sinceProgress = this.#progressSamples
    this.#state.playing = 1
    this.#state.sinceProgress += taken
    if (this.#state.sinceProgress < this.#progressSamples) return
    this.#state.sinceProgress = 0
    emit({ type: 'play-progress', taken: rings.outboundTaken(), atSample: position + taken, idle: false })
  }

  #reportDigits(): void {
    for (let sent = this.#digits.takeSent(); sent !== null; sent = this.#digits.takeSent()) {
      this.#options.emit({ type: 'digits-sent', digits: sent })
    }
  }
}
