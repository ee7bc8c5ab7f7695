/** RFC 5761 section 4: payload types 64 to 95 with the marker bit are RTCP. */
function isRtcp(packet: Uint8Array): boolean {
  return packet.length >= 8 && packet[1]! >= 192 && packet[1]! <= 223
}

const RTP_HEADER_BYTES = 12
const SENDER_REPORT = 200
const RECEIVER_REPORT = 201
/** Of the SSRC of the first report block, in a sender and in a receiver report (RFC 3550 section 6.4). */
const BLOCK_OFFSET: Readonly<Record<number, number>> = { [SENDER_REPORT]: 28, [RECEIVER_REPORT]: 8 }

/**
 * The SSRC of the media session and the one that the answer announces are chosen in different processes: packets of the session
 * get the announced one on their way out, and the browser's reports about it name the session's again on their way in.
 */
export class SsrcMapping {
  readonly #announced: number
  #session: number | null = null

  constructor(announced: number) {
    this.#announced = announced
  }

  /** Changes a packet of the session in place. False: it is no RTP or RTCP. */
  outgoing(packet: Buffer): boolean {
    if (isRtcp(packet)) {
      packet.writeUInt32BE(this.#announced, 4)
      return true
    }
    if (packet.length < RTP_HEADER_BYTES) return false
    this.#session = packet.readUInt32BE(8)
    packet.writeUInt32BE(this.#announced, 8)
    return true
  }

  /** Changes a packet of the browser in place. */
  incoming(packet: Buffer): void {
    if (this.#session === null || !isRtcp(packet)) return
    const offset = BLOCK_OFFSET[packet[1]!]
    if (offset === undefined || packet.length < offset + 4) return
    if (packet.readUInt32BE(offset) === this.#announced) packet.writeUInt32BE(this.#session, offset)
  }
}
