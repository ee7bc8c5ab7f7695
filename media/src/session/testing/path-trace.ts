import { type Ms, type Random, randomBelow, SeededRandom } from '@parley/kernel'
import { encodePcma, encodePcmu } from '../../codec/g711.ts'
import { SyntheticSound } from '../../dsp/testing/synthetic-sound.ts'
import { writeTelephoneEvent } from '../../dtmf/telephone-event.ts'
import type { Ipv4Network } from '../../packet-io/ipv4.ts'
import { writeReceiverReport, writeSdesCname, writeSenderReport } from '../../rtp/rtcp.ts'
import { writeRtpHeader } from '../../rtp/rtp-packet.ts'
import { SrtpSender } from '../../srtp/srtp-sender.ts'
import { keyAndSaltBytes, SRTP_SUITES } from '../../srtp/srtp-suite.ts'
import { packSourceRules } from '../followed-sources.ts'
import type { SrtpKey, SrtpSuite } from '../media-session.ts'
import type { AppliedParameters } from '../session-protocol.ts'
import type { ArrivingPacket, PathRig } from './path-rig.ts'

const PEER_ADDRESS = '192.0.2.9'
const PEER_IPV4 = 0xc0000209
const PEER_PORT = 4000
const START_MS: Ms = 1000
const STEP_MS: Ms = 20
const SPEECH_MS = 8000
/** Speech below tones. */
const BAND = { passHz: 2550, stopHz: 2880, stopbandDb: 55 }
/** A stall of 160 ms. */
const MOST_STALLED_STEPS = 8
/** The peer's clock is slower than ours on rough lines. */
const DRIFT_PER_STEP_MS = 0.03

/** How rough a trace is: shares of steps in which something happens, 0 to 1. */
export interface Roughness {
  /** Loss, duplicates, re-ordering, replays, forgeries, strangers, odd packets. */
  readonly network: number
  /** Offer/answer, digits, background, flushes, changes of source, pauses. */
  readonly owner: number
}

/** Drives rigs through the same seeded call. What the rigs put out after each step is for the caller to compare. */
export class PathTrace {
  readonly #random: Random
  readonly #rigs: readonly PathRig[]
  readonly #roughness: Roughness
  readonly #speech: Int16Array
  #parameters: AppliedParameters
  #sender: SrtpSender | null = null
  #ssrc = 1
  #sequence: number
  #timestamp: number
  #law: 'PCMU' | 'PCMA' = 'PCMU'
  #payloadType = 0
  #frame = 160
  #ipv4 = PEER_IPV4
  #port = PEER_PORT
  #step = 0
  #talked = 0
  #pausedUntil = 0
  #event = 0
  #eventStart = 0
  /** The thread of the rigs stands still until this step; packets that arrive wait in the sockets. */
  #stalledUntil = 0
  #unread: ArrivingPacket[] = []
  /** Packets as they were sent, newest last, for replays. */
  readonly #sent: Uint8Array[] = []
  /** Packets are delayed by up to this, and none overtakes another. */
  #jitterMs = 0
  #lastArrivalMs = 0
  /** Packets that the network delays. */
  #delayed: ArrivingPacket[] = []

  constructor(seed: number, rigs: readonly PathRig[], roughness: Roughness, suite: SrtpSuite | null) {
    this.#random = new SeededRandom(seed)
    this.#rigs = rigs
    this.#roughness = roughness
    const sound = new SyntheticSound(SPEECH_MS)
    for (let ms = 0; ms < SPEECH_MS; ms += 2000) sound.vowel(ms, ms + 1200, -20, { syllables: true })
    sound.noise(0, SPEECH_MS, -55, this.#random)
    this.#speech = sound.samples
    // Wraps of the sequence and of the timestamp come soon.
    this.#sequence = 65_536 - 40 - randomBelow(this.#random, 200)
    this.#timestamp = 2 ** 32 - 160 * randomBelow(this.#random, 300)
    this.#parameters = {
      remote: { address: PEER_ADDRESS, port: PEER_PORT },
      direction: 'sendrecv',
      codec: 'PCMU',
      payloadType: 0,
      ptimeMs: 20,
      dtmfPayloadType: 101,
      silentRemoteAfterMs: 3000,
      srtp: null,
    }
    this.#agree({}, suite)
    for (const rig of rigs) rig.core.detectVoice(seed % 2 === 0 ? { band: BAND } : {})
  }

  /** Sequence number of the packet that was sent last. */
  get lastSequence(): number {
    return (this.#sequence - 1) & 0xffff
  }

  get #nowMs(): Ms {
    return START_MS + this.#step * STEP_MS
  }

  /** The next 20 ms of the call. */
  step(): void {
    this.#step++
    if (this.#happens(this.#roughness.owner)) this.#ownerActs()
    this.#each(rig => this.#supply(rig))
    this.#talked += 160
    const slotMs = this.#nowMs - STEP_MS + 7.5
    // A thread that stalls skips slots.
    const isStalled = this.#step < this.#stalledUntil
    if (!this.#happens(this.#roughness.network / 4) && !isStalled) this.#each(rig => rig.send(slotMs, slotMs + 0.3))
    const arrived = [...this.#unread, ...this.#network(this.#peerSends())]
    this.#unread = this.#step < this.#stalledUntil ? arrived : []
    if (this.#step < this.#stalledUntil) return
    if (this.#happens(this.#roughness.network / 20))
      this.#stalledUntil = this.#step + 1 + randomBelow(this.#random, MOST_STALLED_STEPS)
    this.#each(rig => rig.receive(arrived))
    this.#each(rig => rig.advance(this.#nowMs))
    if (this.#step % 5 === 0) this.#each(rig => rig.read())
  }

  /** RTCP shares the port of RTP from now on. */
  multiplexRtcp(): void {
    this.#agree({ rtcpMux: true })
  }

  /** Nothing is sent from now on to sources in this network that no description named. */
  exclude(network: Ipv4Network): void {
    this.#agree({ sourceRules: packSourceRules([{ ...network, isFollowed: false }]) })
  }

  /** The peer's packets, RTP and RTCP, come from this address from now on. */
  movePeer(ipv4: number): void {
    this.#ipv4 = ipv4
  }

  /** The network delays each packet of the peer by up to this from now on. */
  delayPeer(upToMs: Ms): void {
    this.#jitterMs = upToMs
  }

  /** The peer sends no audio in the next steps. */
  pausePeer(steps: number): void {
    this.#pausedUntil = this.#step + steps
  }

  /** Sends the packet of the peer that was sent last once more. */
  replayLast(): void {
    const bytes = this.#sent.at(-1)!
    this.#each(rig => rig.receive([this.#arriving(bytes, this.#nowMs)]))
  }

  close(): void {
    this.#each(rig => rig.close(this.#nowMs))
  }

  #each(act: (rig: PathRig) => void): void {
    for (const rig of this.#rigs) act(rig)
  }

  #happens(share: number): boolean {
    return randomBelow(this.#random, 10_000) < share * 10_000
  }

  #pick<T>(of: readonly T[]): T {
    return of[randomBelow(this.#random, of.length)]!
  }

  /** Keeps some audio queued, mostly. */
  #supply(rig: PathRig): void {
    const { rings } = rig
    if (this.#step % 400 > 330) return
    const from = this.#talked % (this.#speech.length - 400)
    if (rings.outboundWritten() - rings.outboundTaken() < 400)
      rings.writeOutbound(this.#speech.subarray(from, from + 400), 0)
  }

  #newKey(suite: SrtpSuite): SrtpKey {
    return { suite, keyAndSalt: this.#random.bytes(keyAndSaltBytes(suite)) }
  }

  /** Applies changed parameters; `suite`: new keys of it, null: plain RTP, undefined: keys as before. */
  #agree(changes: Partial<AppliedParameters>, suite?: SrtpSuite | null): void {
    let { srtp } = this.#parameters
    if (suite === null) srtp = null
    else if (suite !== undefined) srtp = { send: this.#newKey(suite), receive: this.#newKey(suite) }
    if (suite !== undefined) this.#sender = srtp === null ? null : new SrtpSender(srtp.receive)
    this.#parameters = { ...this.#parameters, ...changes, srtp }
    const parameters = this.#parameters
    this.#each(rig => rig.core.apply(this.#nowMs, parameters))
  }

  #ownerActs(): void {
    const { srtp } = this.#parameters
    const suite = srtp?.send.suite
    const acts: (() => void)[] = [
      () => this.#agree({ direction: this.#pick(['sendrecv', 'sendrecv', 'sendonly', 'recvonly', 'inactive']) }),
      () => this.#agree({ direction: 'sendrecv' }),
      () => this.#agree({ ptimeMs: this.#pick([10, 20, 30, 60]) }),
      () => this.#agree({ inBandDigits: this.#pick(['auto', 'off', 'on']) }),
      () => this.#agree({ inBandDigits: 'auto' }),
      () => this.#agree({ rtcpMux: this.#pick([true, false]) }),
      () => {
        const codec = this.#pick(['PCMU', 'PCMA'] as const)
        this.#agree({ codec, payloadType: codec === 'PCMU' ? 0 : 8 })
      },
      () => {
        if (suite !== undefined) this.#agree({}, this.#pick([suite, ...SRTP_SUITES]))
      },
      () => this.#each(rig => rig.core.sendDigits('12#', {})),
      () => this.#each(rig => rig.rings.dropOutbound()),
      () => this.#each(rig => rig.core.setBackground(this.#speech.subarray(0, 999), 0.2)),
      () => this.#each(rig => rig.core.setBackground(null, 0)),
      () => {
        const band = this.#pick([undefined, BAND])
        this.#each(rig => rig.core.detectVoice({ hangoverMs: 100, ...(band && { band }) }))
      },
      () => {
        this.#law = this.#pick(['PCMU', 'PCMA'])
        this.#payloadType = this.#law === 'PCMU' ? 0 : 8
      },
      () => {
        this.#frame = this.#pick([80, 160, 160, 240, 320, 480, 960])
      },
      () => {
        this.#pausedUntil = this.#step + randomBelow(this.#random, 200)
      },
      () => {
        this.#ssrc++
        this.#sequence = randomBelow(this.#random, 65_536)
        this.#timestamp = randomBelow(this.#random, 2 ** 32)
      },
      () => {
        this.#port += 2
      },
      () => {
        this.#sequence = (this.#sequence + 4000) & 0xffff
      },
      () => {
        this.#timestamp = (this.#timestamp + randomBelow(this.#random, 100_000)) >>> 0
      },
      () => {
        this.#event = 12
        this.#eventStart = this.#timestamp
      },
    ]
    this.#pick(acts)()
  }

  /** Packets of the peer in this step, as it sends them. */
  #peerSends(): ArrivingPacket[] {
    const packets: ArrivingPacket[] = []
    if (this.#step > this.#pausedUntil && this.#step % Math.max(1, this.#frame / 160) < 1) {
      packets.push(this.#arriving(this.#event > 0 ? this.#eventPacket() : this.#audioPacket(), this.#nowMs))
      if (this.#frame === 80) packets.push(this.#arriving(this.#audioPacket(), this.#nowMs + 0.5))
    } else if (this.#step <= this.#pausedUntil) this.#timestamp = (this.#timestamp + 160) >>> 0
    if (this.#step % 100 === 50) packets.push(this.#report())
    return packets
  }

  #arriving(bytes: Uint8Array, at: Ms, isOnRtcpPort = false): ArrivingPacket {
    const isRough = this.#roughness.network > 0
    const jitter = randomBelow(this.#random, 1000) / (isRough ? 200 : 1000)
    const drift = isRough ? this.#step * DRIFT_PER_STEP_MS : 0
    const delay = this.#jitterMs === 0 ? 0 : randomBelow(this.#random, 8 * this.#jitterMs) / 8
    const arrival = at - STEP_MS + 2 + jitter + drift + delay
    if (this.#jitterMs > 0) this.#lastArrivalMs = Math.max(arrival, this.#lastArrivalMs)
    const inOrder = this.#jitterMs > 0 ? this.#lastArrivalMs : arrival
    return { at: inOrder, bytes, ipv4: this.#ipv4, port: this.#port, isOnRtcpPort }
  }

  #audioPacket(): Uint8Array {
    const packet = new Uint8Array(1536)
    const isNoise = this.#happens(this.#roughness.network / 20)
    writeRtpHeader(packet, isNoise ? 13 : this.#payloadType, false, this.#sequence, this.#timestamp, this.#ssrc)
    let header = 12
    if (this.#happens(this.#roughness.network / 2)) header = this.#extendHeader(packet)
    const from = this.#timestamp % (this.#speech.length - 960)
    const encode = this.#law === 'PCMU' ? encodePcmu : encodePcma
    encode(this.#speech, from, this.#frame, packet, header)
    this.#timestamp = (this.#timestamp + this.#frame) >>> 0
    return this.#protected(packet, header + this.#frame)
  }

  /** CSRCs, a header extension or padding, which are all allowed. */
  #extendHeader(packet: Uint8Array): number {
    switch (randomBelow(this.#random, 3)) {
      case 0:
        packet[0] = 0x82
        return 20
      case 1:
        packet[0] = 0x90
        packet.set([0xbe, 0xde, 0, 1, 0, 0, 0, 0], 12)
        return 20
      default:
        packet[0] = 0xa0
        packet[12 + this.#frame - 1] = 4
        return 12
    }
  }

  #eventPacket(): Uint8Array {
    const packet = new Uint8Array(1536)
    const isFirst = this.#event === 12
    writeRtpHeader(packet, 101, isFirst, this.#sequence, this.#eventStart, this.#ssrc)
    writeTelephoneEvent(packet, 12, 5, this.#event <= 3, 10, (13 - this.#event) * 160)
    this.#event--
    this.#timestamp = (this.#timestamp + 160) >>> 0
    return this.#protected(packet, 16)
  }

  #protected(packet: Uint8Array, length: number): Uint8Array {
    this.#sequence = (this.#sequence + 1) & 0xffff
    const bytes = packet.slice(0, this.#sender === null ? length : this.#sender.protect(packet, length))
    this.#sent.push(bytes)
    if (this.#sent.length > 300) this.#sent.shift()
    return bytes
  }

  #report(): ArrivingPacket {
    const packet = new Uint8Array(1536)
    const isSender = randomBelow(this.#random, 2) === 0
    const end = isSender
      ? writeSenderReport(packet, 0, this.#ssrc, 1e12 + this.#nowMs, this.#timestamp, 100, 16_000, null)
      : writeReceiverReport(packet, 0, this.#ssrc, null)
    const length = writeSdesCname(packet, end, this.#ssrc, new Uint8Array([65, 66]))
    const bytes = packet.slice(0, this.#sender === null ? length : this.#sender.protectRtcp(packet, length))
    if (this.#parameters.rtcpMux === true) return this.#arriving(bytes, this.#nowMs)
    return { ...this.#arriving(bytes, this.#nowMs, true), port: this.#port + 1 }
  }

  /** What the network makes of the packets. */
  #network(packets: readonly ArrivingPacket[]): ArrivingPacket[] {
    const share = this.#roughness.network
    const arrived: ArrivingPacket[] = this.#delayed.filter(({ at }) => at <= this.#nowMs)
    this.#delayed = this.#delayed.filter(({ at }) => at > this.#nowMs)
    for (const packet of packets) {
      if (this.#happens(share / 3)) continue
      if (this.#happens(share / 3)) {
        this.#delayed.push({ ...packet, at: packet.at + randomBelow(this.#random, 120) })
        continue
      }
      const to = this.#jitterMs > 0 && packet.at > this.#nowMs ? this.#delayed : arrived
      to.push(packet)
      if (this.#happens(share / 4)) to.push(packet)
    }
    if (this.#happens(share / 2)) arrived.push(...this.#attack())
    return arrived.map(packet => ({ ...packet, at: Math.min(packet.at, this.#nowMs) }))
  }

  #attack(): ArrivingPacket[] {
    // An attacker that has heard nothing yet.
    if (this.#sent.length === 0) return []
    const old = this.#sent[randomBelow(this.#random, this.#sent.length)]!
    const packet = this.#arriving(old, this.#nowMs)
    switch (randomBelow(this.#random, 5)) {
      case 0:
        return [packet]
      case 1: {
        const forged = old.slice()
        const bit = randomBelow(this.#random, forged.length * 8)
        forged[bit >>> 3]! ^= 1 << (bit & 7)
        return [{ ...packet, bytes: forged }]
      }
      case 2:
        return [{ ...packet, ipv4: 0xc0000263 }]
      case 3:
        return [{ ...packet, port: 5004 }]
      default:
        return [{ ...packet, bytes: this.#random.bytes(1 + randomBelow(this.#random, 200)) }]
    }
  }
}
