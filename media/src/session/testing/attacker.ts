import { type Random, randomBelow } from '@parley/kernel'
import { parseIpv4 } from '../../packet-io/ipv4.ts'
import { writeRtpHeader } from '../../rtp/rtp-packet.ts'
import type { MediaSession } from '../media-session.ts'
import type { VirtualPacketNetwork, VirtualSocket } from '../virtual-packet-network.ts'

const SRTP_PACKET_BYTES = 182

/**
 * A third party on the network: sees packets of others, sends packets from its own address, counts what it receives.
 */
export class Attacker {
  /** Packets sent to this attacker. */
  received = 0
  readonly #random: Random
  readonly #rtp: VirtualSocket
  readonly #seen: Uint8Array[] = []

  constructor(network: VirtualPacketNetwork, random: Random, address = '203.0.113.66', port = 10_000) {
    this.#random = random
    const ipv4 = parseIpv4(address)!
    const count = (): void => {
      this.received++
    }
    this.#rtp = network.bind(ipv4, port, count)
    network.bind(ipv4, port + 1, count)
  }

  /** Keeps copies of up to `limit` packets that go to `victim`, among them RTCP. */
  eavesdrop(network: VirtualPacketNetwork, victim: MediaSession, limit = 2000): void {
    network.onSend = (from, packet, length, _ipv4, port) => {
      const ours = port === victim.local.port || port === victim.local.port + 1
      if (ours && from !== this.#rtp && this.#seen.length < limit) this.#seen.push(packet.slice(0, length))
    }
  }

  /** Well-formed RTP with chosen numbers: loud noise. */
  inject(victim: MediaSession, sequence: number, ssrc: number, payloadType = 0): void {
    const packet = this.#random.bytes(172)
    writeRtpHeader(packet, payloadType, false, sequence & 0xffff, (sequence * 160) >>> 0, ssrc)
    this.#send(victim, packet)
  }

  /** Sends a copy of a packet seen before. */
  replay(victim: MediaSession): void {
    const packet = this.#pick()
    if (packet !== undefined) this.#send(victim, packet)
  }

  /** Sends a packet seen before with one to four bits flipped, another sequence number, or truncated: SRTP or SRTCP. */
  forge(victim: MediaSession): void {
    const packet = this.#pick()?.slice()
    if (packet === undefined) return
    const kind = randomBelow(this.#random, 4)
    if (kind === 0) packet.set(this.#random.bytes(2), 2)
    if (kind === 1) packet.set(this.#random.bytes(4), 8)
    for (let flips = randomBelow(this.#random, 4); flips >= 0; flips--) {
      const bit = randomBelow(this.#random, packet.length * 8)
      packet[bit >>> 3]! ^= 1 << (bit & 7)
    }
    const length = kind === 2 ? randomBelow(this.#random, packet.length) : packet.length
    this.#send(victim, packet.subarray(0, length))
  }

  /** Any bytes at all. */
  noise(victim: MediaSession): void {
    this.#send(victim, this.#random.bytes(randomBelow(this.#random, SRTP_PACKET_BYTES * 2)))
  }

  #pick(): Uint8Array | undefined {
    return this.#seen.length === 0 ? undefined : this.#seen[randomBelow(this.#random, this.#seen.length)]
  }

  #send(victim: MediaSession, packet: Uint8Array): void {
    const ipv4 = parseIpv4(victim.local.address)!
    const port = victim.local.port + (packet.length > 1 && packet[1]! >= 192 && packet[1]! <= 223 ? 1 : 0)
    this.#rtp.send(packet, packet.length, ipv4, port)
  }
}
