import type { Ms, VirtualTime } from '@parley/kernel'
import type { VirtualPacketNetwork } from '@parley/media'
import {
  codecByName,
  parseIpv4,
  RTP_HEADER_BYTES,
  RtpHeader,
  readRtpHeader,
  type SrtpSender,
  writeRtpHeader,
} from '@parley/media/testing'

/** A packet that the carrier received; `port`: of the carrier. */
interface ReceivedPacket {
  readonly at: Ms
  readonly port: number
  readonly payloadType: number
  readonly sequence: number
  readonly ssrc: number
  readonly payloadBytes: number
}

/** Fields of the packets that a stream sends; all may be changed between two calls of `talk`. */
interface StreamFields {
  ssrc: number
  payloadType: number
  sequence: number
  timestamp: number
  /** Port of the carrier that the packets leave from; even. */
  port: number
  /** Last byte of the address 192.0.2.x that they leave from. */
  host: number
  ptimeMs: Ms
  /** Protects the packets; null: plain RTP. */
  srtp: SrtpSender | null
  /** Master key identifier behind each protected packet, before its tag of 10 bytes. */
  mki: Uint8Array
}

const SAMPLES_PER_MS = 8
const TONE_HZ = 425
const TONE_AMPLITUDE = 8000
/** Room for a tag behind the payload. */
const TRAILER_BYTES = 64
const PCMA = 8
const COMFORT_NOISE = 13
/** Of the suites with HMAC_SHA1_80. */
const TAG_BYTES = 10

/** RTP of the carrier on a virtual network: one stream, whose fields the script changes at will. */
export class ScriptedRtp {
  readonly received: ReceivedPacket[] = []
  readonly stream: StreamFields = {
    ssrc: 0x11111111,
    payloadType: 0,
    sequence: 1000,
    timestamp: 50_000,
    port: 40_000,
    host: 9,
    ptimeMs: 20,
    srtp: null,
    mki: new Uint8Array(0),
  }
  /** Where packets go: the engine's address, from its session description. */
  to = { address: '192.0.2.1', port: 0 }
  readonly #time: VirtualTime
  readonly #network: VirtualPacketNetwork
  readonly #sockets = new Map<string, ReturnType<VirtualPacketNetwork['bind']>>()

  constructor(time: VirtualTime, network: VirtualPacketNetwork) {
    this.#time = time
    this.#network = network
    this.#socket()
  }

  /** Sends `ms` of a tone from now on, at the pace of the stream's packet time times `pace`. */
  talk(ms: Ms, { pace = 1, dropEvery = 0 }: { readonly pace?: number; readonly dropEvery?: number } = {}): void {
    const { ptimeMs } = this.stream
    const began = this.#time.now()
    for (let i = 0; i * ptimeMs < ms; i++) {
      this.#time.at(began + i * ptimeMs * pace, () => {
        if (dropEvery > 0 && i % dropEvery === 0) this.#advance(ptimeMs)
        else this.#sendAudio(ptimeMs)
      })
    }
  }

  /** Sends one comfort noise packet (RFC 3389) every `everyMs`, as a sender that is silent does. */
  comfortNoise(ms: Ms, everyMs: Ms): void {
    const began = this.#time.now()
    for (let at = 0; at < ms; at += everyMs) {
      this.#time.at(began + at, () => {
        this.#send(COMFORT_NOISE, false, Uint8Array.of(70))
        this.stream.timestamp += everyMs * SAMPLES_PER_MS
      })
    }
  }

  /** Sends one digit as telephone-event packets of payload type 101 (RFC 4733). */
  digit(
    digit: string,
    options: {
      readonly marker?: boolean
      readonly endPackets?: number
      readonly ms?: Ms
      readonly payloadType?: number
    } = {},
  ): void {
    const { marker = true, endPackets = 3, ms = 100, payloadType = 101 } = options
    const event = '0123456789*#ABCD'.indexOf(digit)
    const began = this.#time.now()
    const { stream } = this
    const timestamp = stream.timestamp
    const packet = (at: Ms, isFirst: boolean, isEnd: boolean, durationMs: Ms) =>
      this.#time.at(began + at, () => {
        const duration = durationMs * SAMPLES_PER_MS
        const payload = Uint8Array.of(event, (isEnd ? 0x80 : 0) | 10, duration >> 8, duration & 0xff)
        this.#send(payloadType, marker && isFirst, payload, timestamp)
      })
    for (let at = 20; at <= ms; at += 20) packet(at, at === 20, false, at)
    for (let i = 0; i < endPackets; i++) packet(ms + 20 * (i + 1), false, true, ms)
    this.#time.at(began + ms + 20 * endPackets, () => {
      stream.timestamp = timestamp + (ms + 20 * (endPackets + 1)) * SAMPLES_PER_MS
    })
  }

  /** Sends bytes that need not be RTP. */
  sendBytes(bytes: Uint8Array): void {
    const ipv4 = parseIpv4(this.to.address)!
    this.#socket().send(bytes, bytes.length, ipv4, this.to.port)
  }

  #sendAudio(ms: Ms): void {
    const samples = ms * SAMPLES_PER_MS
    const tone = new Int16Array(samples)
    const { payloadType, timestamp } = this.stream
    for (let i = 0; i < samples; i++)
      tone[i] = TONE_AMPLITUDE * Math.sin((2 * Math.PI * TONE_HZ * (timestamp + i)) / 8000)
    const payload = new Uint8Array(samples)
    const codec = codecByName(payloadType === PCMA ? 'PCMA' : 'PCMU')
    codec.createEncoder().encode(tone, 0, samples, payload, 0)
    this.#send(payloadType, false, payload)
    this.#advance(ms, false)
  }

  #advance(ms: Ms, sequenceToo = true): void {
    this.stream.timestamp = (this.stream.timestamp + ms * SAMPLES_PER_MS) >>> 0
    if (sequenceToo) this.stream.sequence = (this.stream.sequence + 1) & 0xffff
  }

  #send(payloadType: number, marker: boolean, payload: Uint8Array, timestamp = this.stream.timestamp): void {
    const { stream } = this
    const packet = new Uint8Array(RTP_HEADER_BYTES + payload.length + TRAILER_BYTES)
    writeRtpHeader(packet, payloadType, marker, stream.sequence, timestamp >>> 0, stream.ssrc)
    packet.set(payload, RTP_HEADER_BYTES)
    stream.sequence = (stream.sequence + 1) & 0xffff
    const plain = RTP_HEADER_BYTES + payload.length
    const length = stream.srtp === null ? plain : stream.srtp.protect(packet, plain)
    if (stream.mki.length === 0) return this.sendBytes(packet.subarray(0, length))
    packet.copyWithin(length - TAG_BYTES + stream.mki.length, length - TAG_BYTES, length)
    packet.set(stream.mki, length - TAG_BYTES)
    this.sendBytes(packet.subarray(0, length + stream.mki.length))
  }

  #socket(): ReturnType<VirtualPacketNetwork['bind']> {
    const { port, host } = this.stream
    const key = `${host}:${port}`
    const known = this.#sockets.get(key)
    if (known !== undefined) return known
    const socket = this.#network.bind(parseIpv4(`192.0.2.${host}`)!, port, (packet, length) =>
      this.#note(port, packet, length),
    )
    this.#sockets.set(key, socket)
    return socket
  }

  /** Also receives at this port of the carrier's address. */
  listen(port: number): void {
    const before = this.stream.port
    this.stream.port = port
    this.#socket()
    this.stream.port = before
  }

  #note(port: number, packet: Uint8Array, length: number): void {
    const header = new RtpHeader()
    if (!readRtpHeader(packet, length, header)) return
    const { payloadType, sequence, ssrc, payloadLength } = header
    this.received.push({ at: this.#time.now(), port, payloadType, sequence, ssrc, payloadBytes: payloadLength })
  }
}
