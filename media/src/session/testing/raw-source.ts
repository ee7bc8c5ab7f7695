import { encodePcmu } from '../../codec/g711.ts'
import { parseIpv4 } from '../../packet-io/ipv4.ts'
import { RTP_HEADER_BYTES, writeRtpHeader } from '../../rtp/rtp-packet.ts'
import type { MediaSession } from '../media-session.ts'
import type { VirtualPacketNetwork, VirtualSocket } from '../virtual-packet-network.ts'

/** A source of plain RTP that sends exactly the packets that a test wants, one after the other. */
export class RawSource {
  /** Packets sent to this source. */
  received = 0
  readonly #socket: VirtualSocket
  readonly #victim: MediaSession
  readonly #ssrc: number
  #sequence: number
  #timestamp = 4_000_000_000

  constructor(
    network: VirtualPacketNetwork,
    victim: MediaSession,
    options: { readonly address: string; readonly port: number; readonly ssrc: number; readonly sequence?: number },
  ) {
    this.#victim = victim
    this.#ssrc = options.ssrc
    this.#sequence = options.sequence ?? 65_530
    this.#socket = network.bind(parseIpv4(options.address)!, options.port, () => {
      this.received++
    })
  }

  /** Sends the audio as one packet of PCMU; its timestamp follows that of the packet before. */
  audio(samples: Int16Array, payloadType = 0): void {
    const packet = new Uint8Array(RTP_HEADER_BYTES + samples.length)
    encodePcmu(samples, 0, samples.length, packet, RTP_HEADER_BYTES)
    this.#send(packet, payloadType)
    this.pass(samples.length)
  }

  /** Comfort noise (RFC 3389). */
  comfortNoise(): void {
    this.#send(new Uint8Array(RTP_HEADER_BYTES + 1).fill(70, RTP_HEADER_BYTES), 13)
  }

  /** Lets the timestamps advance, as in a pause. */
  pass(samples: number): void {
    this.#timestamp = (this.#timestamp + samples) >>> 0
  }

  #send(packet: Uint8Array, payloadType: number): void {
    writeRtpHeader(packet, payloadType, false, this.#sequence, this.#timestamp, this.#ssrc)
    this.#sequence = (this.#sequence + 1) & 0xffff
    this.#socket.send(packet, packet.length, parseIpv4(this.#victim.local.address)!, this.#victim.local.port)
  }
}
