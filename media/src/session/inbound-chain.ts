import { type AudioFormat, type Ms, msToSamples, NARROWBAND } from '@parley/kernel'
import { CODECS, type CodecName, codecByName, DEFAULT_CODECS } from '../codec/codecs.ts'
import { FormatConverter } from '../dsp/format-converter.ts'
import { ReceiveStream } from '../dsp/receive-stream.ts'
import { MAX_PAYLOAD_BYTES } from '../dsp/reorder-buffer.ts'
import { parseIpv4 } from '../packet-io/ipv4.ts'
import { ReceptionStatistics } from '../rtp/reception-statistics.ts'
import { RtpHeader, readRtpHeader } from '../rtp/rtp-packet.ts'
import { SRTP_MALFORMED, SRTP_REPLAYED } from '../srtp/srtp-result.ts'
import type { RtpTransform, SrtpTransforms } from '../srtp/srtp-transform.ts'
import { type CallPage, InboundWords } from './call-page.ts'
import { DecodingStream, lawIn } from './codec-streams.ts'
import { DigitReception } from './digit-reception.ts'
import type { VoiceDetection } from './media-session.ts'
import type { PathCall } from './path-call.ts'
import { ReceiveKeys } from './receive-keys.ts'
import type { AppliedParameters, CoreEvent } from './session-protocol.ts'
import type { SessionRecorder } from './session-recorder.ts'
import type { SessionRings } from './session-rings.ts'
import type { SessionCounters } from './session-statistics.ts'
import { SilenceWatchdog } from './silence-watchdog.ts'
import { SourceLatch } from './source-latch.ts'
import { VoiceDetector } from './voice-detector.ts'

/** RFC 3389. */
const COMFORT_NOISE_PAYLOAD_TYPE = 13
const PAYLOAD_TYPES = 128
/** Meaning of a payload type: 0 is unknown, EVENT, COMFORT_NOISE, otherwise audio (index + 1 of `CODECS`). */
const EVENT = 100
/** Comfort noise (RFC 3389): keeps its place in the sequence and becomes silence. */
const COMFORT_NOISE = 101
const PULL_MS: Ms = 60
/** A hold applies to packets sent after it: packets in flight are still accepted for this long. */
const IN_FLIGHT_MS: Ms = 500

interface InboundChainOptions {
  readonly openedAtMs: Ms
  readonly format: AudioFormat
  readonly rings: SessionRings
  readonly recorder: SessionRecorder | null
  readonly counters: SessionCounters
  /** State that the native path shares. */
  readonly page: CallPage
  /** Default: portable ones. */
  readonly transforms?: SrtpTransforms
  readonly emit: (event: CoreEvent) => void
}

/**
 * From a received packet to heard audio: source latch, SRTP, header, codec or telephone-event, stream on the sample
 * clock, then voice activity, recording and the heard ring. Allocates nothing per packet.
 */
export class InboundChain {
  readonly latch: SourceLatch
  readonly keys: ReceiveKeys
  /** Statistics of the current source. */
  readonly reception: ReceptionStatistics
  readonly stream: ReceiveStream
  readonly #options: InboundChainOptions
  readonly #digits: DigitReception
  readonly #watchdog: SilenceWatchdog
  readonly #state: InstanceType<typeof InboundWords>
  /** The call in the native path; null: there is none, or not yet. */
  #native: PathCall | null = null
  /** What the native path opens packets with; undefined: nothing was set. */
  #nativeTransform: RtpTransform | null | undefined
  readonly #header = new RtpHeader()
  /** Voice activity detection; null: not enabled. */
  #voice: VoiceDetector | null = null
  /** Decoders by index in `CODECS`; null: no payload type of this session means the codec. */
  readonly #decoders: (DecodingStream | null)[] = CODECS.map(() => null)
  readonly #pulled: Int16Array
  /** For voice activity and tones, which are detected at 8 kHz. */
  readonly #narrow: FormatConverter
  readonly #meaning = new Uint8Array(PAYLOAD_TYPES)
  /** Payload types of the agreed codec, as we and as the peer numbered it. */
  #negotiated = 0
  #receiveNegotiated = 0
  #lostBefore = 0

  constructor(options: InboundChainOptions) {
    this.#options = options
    this.keys = new ReceiveKeys(options.transforms)
    const { openedAtMs, format, emit, page } = options
    this.#state = new InboundWords(page.inbound)
    this.#state.openedAtMs = openedAtMs
    this.#state.ssrc = -1
    this.#state.clockRate = 8000
    this.latch = new SourceLatch(page.latch)
    this.reception = new ReceptionStatistics(page.reception, page.sequence)
    this.#watchdog = new SilenceWatchdog(page.watchdog)
    this.stream = new ReceiveStream({ openedAtMs, format, memory: isPaged(format) ? page.stream : undefined })
    this.#pulled = new Int16Array(msToSamples(PULL_MS, format))
    this.#narrow = new FormatConverter(format, NARROWBAND)
    this.#digits = new DigitReception({ openedAtMs, emit, stream: this.stream, ratio: this.#narrow.ratio })
  }

  /** SSRC of the current source; -1 before the first packet. */
  get ssrc(): number {
    return this.#state.ssrc
  }

  /** RTP clock rate of the agreed codec, and so of telephone-event, Hz. */
  get clockRate(): number {
    return this.#state.clockRate
  }

  /** The native path processes regular packets from now on; null: no longer. */
  useNative(call: PathCall | null): void {
    this.#native = call
    this.#nativeTransform = undefined
    this.#settle()
  }

  /** Applies new parameters; returns whether the peer's key changed. */
  apply(nowMs: Ms, parameters: AppliedParameters): boolean {
    const { remote, srtp, remoteReachable: reachable = true, learnFrom = [], sourceRules = null } = parameters
    const keyChanged = this.keys.apply(nowMs, srtp?.receive ?? null)
    const ipv4 = remote === null ? 0 : (parseIpv4(remote.address) ?? 0)
    const port = remote === null || ipv4 === 0 ? 0 : remote.port
    const exact = parameters.exactSource === true
    this.latch.announce({ ipv4, port, secure: srtp !== null, reachable, learnFrom, sourceRules, exact })
    this.#learnPayloadTypes(parameters)
    if (parameters.holdMs !== undefined) this.stream.waitFor(parameters.holdMs)
    const hears = parameters.direction === 'sendrecv' || parameters.direction === 'recvonly'
    if (hears !== (this.#state.hearingUntilMs === Number.POSITIVE_INFINITY)) this.stream.hold(!hears)
    this.reception.expectGap()
    if (hears) this.#state.hearingUntilMs = Number.POSITIVE_INFINITY
    else this.#state.hearingUntilMs = Math.min(this.#state.hearingUntilMs, nowMs + IN_FLIGHT_MS)
    this.#watchdog.apply(nowMs, hears && ipv4 !== 0, parameters.silentRemoteAfterMs)
    this.#settle()
    return keyChanged
  }

  /** Processes one RTP packet; decrypts it in place. */
  receive(nowMs: Ms, packet: Uint8Array, length: number, ipv4: number, port: number): void {
    this.#receive(nowMs, packet, length, ipv4, port)
    this.#settle()
  }

  #receive(nowMs: Ms, packet: Uint8Array, length: number, ipv4: number, port: number): void {
    const { counters } = this.#options
    if (!this.latch.mayHear(ipv4)) {
      counters.foreign++
      return
    }
    let clear = length
    if (this.keys.secure) {
      clear = this.keys.unprotect(nowMs, packet, length)
      if (clear < 0) {
        this.countRefused(clear)
        return
      }
    }
    const header = this.#header
    if (!readRtpHeader(packet, clear, header)) {
      counters.malformed++
      return
    }
    // Any RTP of the peer shows that it is there, also with another SSRC, port or payload type.
    this.alive(nowMs)
    const { payloadType, payloadLength, ssrc, sequence } = header
    if (this.#meaning[payloadType] === 0 || payloadLength > MAX_PAYLOAD_BYTES) {
      counters.malformed++
      return
    }
    const isNegotiated = payloadType === this.#negotiated || payloadType === this.#receiveNegotiated
    if (!this.latch.hear(nowMs, ipv4, port, ssrc, sequence, isNegotiated)) {
      counters.foreign++
      return
    }
    this.#count(nowMs)
    this.#take(nowMs, packet)
    this.#advance(nowMs)
  }

  /** Delivers the audio that is due at `nowMs`; call it every packet time, also when nothing arrives. */
  advance(nowMs: Ms): void {
    this.#advance(nowMs)
    this.#settle()
  }

  #advance(nowMs: Ms): void {
    const { rings, recorder } = this.#options
    for (;;) {
      const position = this.stream.position
      const count = this.stream.pull(nowMs, this.#pulled)
      if (count === 0) break
      if (this.#state.heardStarted === 0) {
        this.#state.heardStarted = 1
        rings.setHeardOrigin(position)
      }
      const narrow = this.#narrow
      narrow.push(position, this.#pulled, count)
      this.#voice?.push(narrow.position, narrow.samples, narrow.count, count)
      rings.writeHeard(this.#pulled, count)
      recorder?.writeLeft(position, this.#pulled, 0, count)
      this.#digits.audio(narrow.position, narrow.samples, narrow.count)
    }
    this.#report(nowMs)
  }

  detectVoice(options: VoiceDetection): void {
    const { rings, emit, page } = this.#options
    this.#voice = new VoiceDetector(options, this.#narrow.ratio, rings, emit, page)
    this.#state.detectsVoice = 1
    this.#settle()
  }

  /** An authentic packet of the peer arrived, RTP or RTCP. */
  alive(nowMs: Ms): void {
    const afterMs = this.#watchdog.heard(nowMs)
    if (afterMs > 0) this.#options.emit({ type: 'remote-back', afterMs })
  }

  /** Packets lost over all sources so far (RFC 3550 A.3). */
  get lost(): number {
    return this.#lostBefore + this.reception.lost
  }

  countRefused(reason: number): void {
    const { counters } = this.#options
    if (reason === SRTP_REPLAYED) counters.replayed++
    else if (reason === SRTP_MALFORMED) counters.malformed++
    else counters.unauthenticated++
  }

  /**
   * Our own description's payload types take precedence. A peer that renumbered in its answer should use ours and may
   * use its own, and both static G.711 types are always accepted: it may send any format that was offered (RFC 3264
   * section 6.1).
   */
  #learnPayloadTypes(parameters: AppliedParameters): void {
    const { codec, payloadType, receivePayloadType = payloadType, dtmfPayloadType } = parameters
    const { receiveDtmfPayloadType = dtmfPayloadType } = parameters
    const audio = this.#meaningOf(codec)
    this.#state.clockRate = codecByName(codec).clockRate
    this.#negotiated = payloadType
    this.#receiveNegotiated = receivePayloadType
    this.#meaning.fill(0)
    this.#options.page.laws.fill(0)
    if (receiveDtmfPayloadType !== null) this.#learn(receiveDtmfPayloadType, EVENT)
    this.#learn(receivePayloadType, audio)
    this.#learn(payloadType, audio)
    if (dtmfPayloadType !== null && receiveDtmfPayloadType !== null) this.#learn(dtmfPayloadType, EVENT)
    for (const name of DEFAULT_CODECS) this.#learn(codecByName(name).payloadType, this.#meaningOf(name))
    this.#learn(COMFORT_NOISE_PAYLOAD_TYPE, COMFORT_NOISE)
    const eventsAgreed = receiveDtmfPayloadType !== null && dtmfPayloadType !== null
    this.#digits.apply(parameters.inBandDigits ?? 'auto', eventsAgreed, this.clockRate)
  }

  /** Meaning of a payload type for this codec. */
  #meaningOf(name: CodecName): number {
    const meaning = 1 + CODECS.findIndex(codec => codec.name === name)
    // The native path decodes G.711 by itself, so that most calls need no decoder here.
    if (lawIn(codecByName(name), this.#options.format) === 0) this.#decoderOf(meaning)
    return meaning
  }

  /** Null: not audio. */
  #decoderOf(meaning: number): DecodingStream | null {
    const codec = CODECS[meaning - 1]
    if (codec === undefined) return null
    this.#decoders[meaning - 1] ??= new DecodingStream(codec, this.#options.format)
    return this.#decoders[meaning - 1] ?? null
  }

  /** Sets the meaning of a payload type unless it has one. */
  #learn(payloadType: number, meaning: number): void {
    if (this.#meaning[payloadType] !== 0) return
    this.#meaning[payloadType] = meaning
    const codec = CODECS[meaning - 1]
    this.#options.page.laws[payloadType] = codec === undefined ? 0 : lawIn(codec, this.#options.format)
  }

  #count(nowMs: Ms): void {
    const { counters, emit, openedAtMs, format } = this.#options
    const { ssrc, sequence, timestamp, payloadType } = this.#header
    if (ssrc !== this.ssrc) {
      if (this.ssrc === -1) emit({ type: 'first-packet', atSample: msToSamples(nowMs - openedAtMs, format) })
      this.#lostBefore += this.reception.lost
      this.reception.reset()
      this.#state.ssrc = ssrc
    }
    this.reception.update(sequence, timestamp, nowMs, this.clockRate)
    if (this.reception.pauses > 0 || this.#meaning[payloadType] === COMFORT_NOISE) this.#watchdog.expectPauses()
    counters.packetsReceived++
  }

  #take(nowMs: Ms, packet: Uint8Array): void {
    const { ssrc, sequence, timestamp, payloadType, payloadOffset, payloadLength, marker } = this.#header
    const meaning = this.#meaning[payloadType]!
    const hearing = nowMs <= this.#state.hearingUntilMs
    const decoder = this.#decoderOf(meaning)
    if (decoder === null || !hearing) {
      this.stream.skip(ssrc, sequence, nowMs)
      if (meaning === EVENT && hearing) {
        this.#digits.packet(ssrc, timestamp, marker, packet, payloadOffset, payloadLength, nowMs)
      }
      return
    }
    this.stream.push(ssrc, sequence, timestamp, decoder, packet, payloadOffset, payloadLength, nowMs)
  }

  /** Decides whether the native path may process the next packets: after everything that can change the answer. */
  #settle(): void {
    const call = this.#native
    this.#state.advances = call !== null && this.#isRegular() ? 1 : 0
    this.#state.ready = call !== null && this.#state.advances !== 0 && this.#opensNatively(call) ? 1 : 0
  }

  #isRegular(): boolean {
    const { clockRate, heardStarted } = this.#state
    return (
      heardStarted !== 0 &&
      clockRate === NARROWBAND.sampleRateHz &&
      isPaged(this.#options.format) &&
      this.#digits.idle &&
      (this.#voice === null || this.#voice.isPaged)
    )
  }

  /** Gives the call the transform of the only key in use. */
  #opensNatively(call: PathCall): boolean {
    const transform = this.keys.secure ? this.keys.share(this.ssrc, this.#options.page.opened) : null
    if (this.keys.secure && transform === null) return false
    if (transform === this.#nativeTransform) return true
    this.#nativeTransform = call.openWith(transform) ? transform : undefined
    return this.#nativeTransform !== undefined
  }

  #report(nowMs: Ms): void {
    const { emit } = this.#options
    this.#digits.report(nowMs)
    const forMs = this.#watchdog.check(nowMs)
    if (forMs > 0) emit({ type: 'silent-remote', forMs })
  }
}

/** Whether a session of this format keeps its stream in the page, which has room for 8 kHz. */
function isPaged({ sampleRateHz }: AudioFormat): boolean {
  return sampleRateHz === NARROWBAND.sampleRateHz
}
