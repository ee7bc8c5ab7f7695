import { type Ms, NARROWBAND, randomUint32, type Samples, systemRandom } from '@parley/kernel'
import type { CodecName, MediaParameters, MediaReport, MediaSession, MediaStatistics } from '@parley/media'
import {
  codecByName,
  isRtcp,
  parseIpv4,
  RTP_HEADER_BYTES,
  RtpHeader,
  readRtpHeader,
  SrtpReceiver,
  SrtpSender,
  writeRtpHeader,
} from '@parley/media/testing'
import { type Destination, type LineMember, type WireLine, wireClock } from './wire-line.ts'

const FRAME: Samples = 160
/** 60 ms, the longest packet that can be negotiated. */
const MAX_PACKET: Samples = 480

/** Gets each frame of one call as it passes the socket; must not store it. Times are those of `wireClock`. */
export interface WireTap {
  /** A frame was handed to the socket; `remaining` samples are still queued. */
  sent(at: Ms, frame: Int16Array, remaining: Samples): void
  heard(at: Ms, frame: Int16Array): void
}

/** What a call needs for its packets once its parameters are known. */
class WireStream {
  readonly remote: Destination | null
  readonly payloadType: number
  readonly receivePayloadType: number
  readonly codec: CodecName
  readonly encoder
  readonly decoder
  /** A frame of digital silence, encoded. */
  readonly silence = new Uint8Array(FRAME)

  constructor({ remote, codec, payloadType, receivePayloadType = payloadType }: MediaParameters) {
    const ipv4 = remote === null ? null : parseIpv4(remote.address)
    this.remote = remote === null || ipv4 === null ? null : { ipv4, port: remote.port }
    this.codec = codec
    this.payloadType = payloadType
    this.receivePayloadType = receivePayloadType
    this.encoder = codecByName(codec).createEncoder()
    this.decoder = codecByName(codec).createDecoder()
    this.encoder.encode(new Int16Array(FRAME), 0, FRAME, this.silence, 0)
  }
}

/**
 * A media session directly on a socket: no thread, no jitter buffer, no concealment. It sends 20 ms frames over RTP or SRTP on a grid
 * that starts with the session. It has no RTCP, digits or recording, and does not store received audio.
 */
export class WireSession implements MediaSession, LineMember {
  readonly id: number
  readonly format = NARROWBAND
  readonly local: { readonly address: string; readonly port: number }
  readonly #label: string
  readonly #line: WireLine
  readonly #tap: WireTap
  readonly #header = new RtpHeader()
  readonly #samples = new Int16Array(MAX_PACKET)
  readonly #frame = this.#samples.subarray(0, FRAME)
  readonly #ssrc = randomUint32(systemRandom)
  #stream: WireStream | null = null
  #sender: SrtpSender | null = null
  #receiver: SrtpReceiver | null = null
  #keys: MediaParameters['srtp'] = null
  /** Frames of the grid so far, including skipped ones. */
  #frames = 0
  #skipped = 0
  #received = 0
  #unauthentic = 0
  #queue: Int16Array[] = []
  /** Samples of `#queue[0]` that were sent. */
  #consumed: Samples = 0
  #queued: Samples = 0
  #played: Samples = 0
  #closed = false

  /** `opened` is a socket of the line; the session closes it. Its number is the session's. */
  constructor(label: string, line: WireLine, opened: Awaited<ReturnType<WireLine['open']>>, tap: WireTap) {
    this.id = opened.socket
    this.#label = label
    this.#line = line
    this.#tap = tap
    this.local = { address: opened.address, port: opened.port }
  }

  /** Emits no events; the tap receives each frame. */
  onEvent(): void {}

  /** Throws when the keys change in the call, which this session does not support. */
  apply(parameters: MediaParameters): void {
    if (this.#closed) return
    this.#keyWith(parameters.srtp)
    this.#stream = new WireStream(parameters)
    this.#line.join(this.id, this)
  }

  #keyWith(keys: MediaParameters['srtp']): void {
    if (this.#stream !== null && !areSame(this.#keys, keys))
      throw new Error('the wire session keeps its SRTP keys; the engine changed them')
    if (this.#stream !== null || keys === null) return
    const { transforms } = this.#line
    this.#keys = keys
    this.#sender = new SrtpSender(keys.send, transforms)
    this.#receiver = new SrtpReceiver(keys.receive, null, transforms)
  }

  play(audio: Int16Array): Samples {
    this.#queue.push(audio)
    this.#queued += audio.length
    return this.#played + this.#queued
  }

  flush(): Samples {
    this.#queue = []
    this.#consumed = 0
    this.#queued = 0
    return this.#played
  }

  played(): Samples {
    return this.#played
  }

  queued(): Samples {
    return this.#queued
  }

  sendDigits(): void {
    throw new Error('the wire session cannot send digits')
  }

  readHeard(): Samples {
    return 0
  }

  heardPosition(): Samples {
    return this.#frames * FRAME
  }

  setBackground(): void {}

  detectVoice(): void {}

  splitRecording(): Promise<never> {
    return Promise.reject(new TypeError('calls of the benchmark are not recorded'))
  }

  playTo(): () => void {
    return () => {}
  }

  nextVoiceEdge(): null {
    return null
  }

  describe(): string {
    const { address, port } = this.local
    return `${this.#label}: udp ${address}:${port}, ${this.#keys === null ? 'plain RTP' : 'SRTP'} on its socket`
  }

  async statistics(): Promise<MediaStatistics> {
    return {
      packetsSent: this.#frames - this.#skipped,
      packetsReceived: this.#received,
      packetsLost: 0,
      packetsLate: 0,
      packetsDuplicate: 0,
      jitterMs: 0,
      jitterMeanMs: 0,
      jitterMaxMs: 0,
      roundTrip: null,
      farEnd: null,
      intervals: [],
      mediaConflicts: 0,
      sourcesRefused: 0,
      concealedSamples: 0,
      rejected: { unauthenticated: this.#unauthentic, replayed: 0, foreign: 0, malformed: 0 },
      heardOverrunSamples: 0,
      missedSlots: this.#skipped,
    }
  }

  async close(): Promise<MediaReport> {
    if (!this.#closed) {
      this.#closed = true
      this.#line.close(this.id)
    }
    return { statistics: await this.statistics(), recording: null }
  }

  skip(frames: number): void {
    this.#frames += frames
    this.#skipped += frames
  }

  compose(slot: Uint8Array, to: Destination): number {
    const stream = this.#stream!
    const isSilent = this.#queued === 0
    const frame = this.#nextFrame()
    const number = this.#frames++
    if (stream.remote === null) return 0
    to.ipv4 = stream.remote.ipv4
    to.port = stream.remote.port
    writeRtpHeader(slot, stream.payloadType, number === 0, number & 0xffff, (number * FRAME) >>> 0, this.#ssrc)
    if (isSilent) slot.set(stream.silence, RTP_HEADER_BYTES)
    else stream.encoder.encode(frame, 0, FRAME, slot, RTP_HEADER_BYTES)
    this.#tap.sent(wireClock(), frame, this.#queued)
    const length = RTP_HEADER_BYTES + FRAME
    return this.#sender === null ? length : this.#sender.protect(slot, length)
  }

  /** The next 20 ms of queued audio, filled up with silence. */
  #nextFrame(): Int16Array {
    const frame = this.#frame.fill(0)
    let filled = 0
    for (let piece = this.#queue[0]; piece !== undefined && filled < FRAME; piece = this.#queue[0]) {
      const count = Math.min(FRAME - filled, piece.length - this.#consumed)
      frame.set(piece.subarray(this.#consumed, this.#consumed + count), filled)
      filled += count
      this.#consumed += count
      if (this.#consumed < piece.length) break
      this.#queue.shift()
      this.#consumed = 0
    }
    this.#queued -= filled
    this.#played += filled
    return frame
  }

  /** Handles a packet; RTCP and packets of other senders are ignored. */
  receive(at: Ms, packet: Uint8Array, packetLength: number, ipv4: number, port: number): void {
    const stream = this.#stream!
    const { remote } = stream
    if (remote === null || port !== remote.port || ipv4 !== remote.ipv4 || isRtcp(packet, packetLength)) return
    const length = this.#receiver === null ? packetLength : this.#receiver.unprotect(packet, packetLength)
    if (length < 0) {
      this.#unauthentic++
      return
    }
    const header = this.#header
    if (!readRtpHeader(packet, length, header) || header.payloadType !== stream.receivePayloadType) return
    this.#received++
    const { payloadOffset, payloadLength } = header
    const count = stream.decoder.decode(packet, payloadOffset, payloadLength, this.#samples, 0)
    this.#tap.heard(at, count === FRAME ? this.#frame : this.#samples.subarray(0, count))
  }
}

function areSame(one: MediaParameters['srtp'], other: MediaParameters['srtp']): boolean {
  if (one === null || other === null) return one === other
  const isSame = (a: Uint8Array, b: Uint8Array) => a.length === b.length && a.every((byte, i) => byte === b[i])
  return isSame(one.send.keyAndSalt, other.send.keyAndSalt) && isSame(one.receive.keyAndSalt, other.receive.keyAndSalt)
}
