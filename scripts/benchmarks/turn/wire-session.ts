import type { RemoteInfo, Socket } from 'node:dgram'
import { type Ms, NARROWBAND, randomUint32, type Samples, systemRandom, type Time, type Timer } from '@parley/kernel'
import type { MediaParameters, MediaReport, MediaSession, MediaStatistics } from '@parley/media'
import { codecByName, isRtcp, RTP_HEADER_BYTES, RtpHeader, readRtpHeader, writeRtpHeader } from '@parley/media/testing'

const FRAME: Samples = 160
const FRAME_MS = 20
/** Frames that are later than this are dropped, because speech cannot catch up. */
const MAX_LATE_MS = 100
/** 60 ms, the longest packet that can be negotiated. */
const MAX_PACKET: Samples = 480

/** Gets each frame of one call as it passes the socket; must not store it. Times are those of `wireClock`. */
export interface WireTap {
  /** A frame was handed to the socket; `remaining` samples are still queued. */
  sent(at: Ms, frame: Int16Array, remaining: Samples): void
  heard(at: Ms, frame: Int16Array): void
}

/** The clock of the machine with fractions of ms, the same in all its processes. */
export function wireClock(): Ms {
  return performance.timeOrigin + performance.now()
}

/**
 * A media session directly on a socket: no thread, no jitter buffer, no concealment. It sends plain RTP in 20 ms frames on a grid
 * that starts with the session. It has no RTCP, digits or recording, and does not store received audio.
 */
export class WireSession implements MediaSession {
  readonly id: number
  readonly format = NARROWBAND
  readonly local: { readonly address: string; readonly port: number }
  readonly #label: string
  readonly #socket: Socket
  readonly #tap: WireTap
  readonly #time: Time
  readonly #header = new RtpHeader()
  readonly #samples = new Int16Array(MAX_PACKET)
  readonly #ssrc = randomUint32(systemRandom)
  #parameters: MediaParameters | null = null
  #timer: Timer | null = null
  #nextAt: Ms = 0
  /** Frames of the grid so far, including skipped ones. */
  #frames = 0
  #skipped = 0
  #received = 0
  #queue: Int16Array[] = []
  /** Samples of `#queue[0]` that were sent. */
  #consumed: Samples = 0
  #queued: Samples = 0
  #played: Samples = 0
  #closed = false

  /** `socket` must be bound; the session closes it. */
  constructor(id: number, label: string, socket: Socket, tap: WireTap, time: Time) {
    this.id = id
    this.#label = label
    this.#socket = socket
    this.#tap = tap
    this.#time = time
    this.local = { address: socket.address().address, port: socket.address().port }
    // Errors of an unconnected UDP socket concern single packets.
    socket.on('error', () => {})
    socket.on('message', (packet, from) => this.#receive(wireClock(), packet, from))
  }

  /** Emits no events; the tap receives each frame. */
  onEvent(): void {}

  /** Throws for SRTP: this session supports plain RTP only. */
  apply(parameters: MediaParameters): void {
    if (parameters.srtp !== null) throw new Error('the wire session supports plain RTP only, not SRTP')
    this.#parameters = parameters
    if (this.#timer !== null || this.#closed) return
    this.#nextAt = this.#time.now()
    this.#arm()
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
    return `${this.#label}: udp ${this.local.address}:${this.local.port}, plain RTP on its socket`
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
      rejected: { unauthenticated: 0, replayed: 0, foreign: 0, malformed: 0 },
      heardOverrunSamples: 0,
      missedSlots: this.#skipped,
    }
  }

  async close(): Promise<MediaReport> {
    if (!this.#closed) {
      this.#closed = true
      this.#timer?.cancel()
      this.#socket.close()
    }
    return { statistics: await this.statistics(), recording: null }
  }

  #arm(): void {
    this.#timer = this.#time.at(this.#nextAt, () => {
      // The grid begins with the first frame, because the setup of the call is not on time.
      if (this.#frames === 0) this.#nextAt = this.#time.now()
      const late = Math.floor((this.#time.now() - this.#nextAt) / FRAME_MS)
      if (late * FRAME_MS > MAX_LATE_MS) this.#skip(late)
      for (; this.#nextAt <= this.#time.now(); this.#nextAt += FRAME_MS) this.#send()
      if (!this.#closed) this.#arm()
    })
  }

  #skip(frames: number): void {
    this.#frames += frames
    this.#skipped += frames
    this.#nextAt += frames * FRAME_MS
  }

  #send(): void {
    const { remote, codec, payloadType } = this.#parameters!
    const frame = this.#nextFrame()
    const number = this.#frames++
    if (remote === null) return
    // Each packet needs its own memory: the socket holds it while the kernel's buffer is full.
    const packet = new Uint8Array(RTP_HEADER_BYTES + FRAME)
    writeRtpHeader(packet, payloadType, number === 0, number & 0xffff, (number * FRAME) >>> 0, this.#ssrc)
    codecByName(codec).createEncoder().encode(frame, 0, FRAME, packet, RTP_HEADER_BYTES)
    const at = wireClock()
    this.#socket.send(packet, remote.port, remote.address, () => {})
    this.#tap.sent(at, frame, this.#queued)
  }

  /** The next 20 ms of queued audio, filled up with silence. */
  #nextFrame(): Int16Array {
    const frame = this.#samples.subarray(0, FRAME).fill(0)
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
  #receive(at: Ms, packet: Uint8Array, from: RemoteInfo): void {
    const parameters = this.#parameters
    if (parameters === null || isRtcp(packet, packet.length)) return
    const { remote, codec, payloadType, receivePayloadType = payloadType } = parameters
    if (remote === null || from.port !== remote.port || from.address !== remote.address) return
    const header = this.#header
    if (!readRtpHeader(packet, packet.length, header) || header.payloadType !== receivePayloadType) return
    this.#received++
    const { payloadOffset, payloadLength } = header
    const count = codecByName(codec).createDecoder().decode(packet, payloadOffset, payloadLength, this.#samples, 0)
    this.#tap.heard(at, this.#samples.subarray(0, count))
  }
}
