import { randomInt } from 'node:crypto'

/** Payload type and RTP clock of L16 (RFC 3551 section 4.5.11) between the process of rooms and the media session. */
export const L16_PAYLOAD_TYPE = 112
export const SAMPLE_RATE_HZ = 16_000

const HEADER_BYTES = 12
const MARKER = 0x80
/** A visitor who sent nothing for this long, as with a muted microphone, was silent; less is jitter. */
const GAP_SAMPLES = SAMPLE_RATE_HZ / 5

/** Puts the audio of a visitor into RTP packets with L16. A pause between frames is a gap in the timestamps. */
export class L16Packets {
  readonly #ssrc = randomInt(1, 2 ** 32)
  readonly #firstTimestamp = randomInt(2 ** 32)
  #sequence = randomInt(0x8000)
  #startedAt: number | null = null
  #position = 0

  /** `now`: monotonic time in ms. */
  packet(samples: Int16Array, now: number): Buffer {
    this.#startedAt ??= now
    const elapsed = Math.round(((now - this.#startedAt) * SAMPLE_RATE_HZ) / 1000)
    const isAfterGap = elapsed - this.#position > GAP_SAMPLES
    if (isAfterGap) this.#position = elapsed
    const packet = Buffer.alloc(HEADER_BYTES + 2 * samples.length)
    packet[0] = 0x80
    packet[1] = L16_PAYLOAD_TYPE | (isAfterGap || this.#position === 0 ? MARKER : 0)
    packet.writeUInt16BE(this.#sequence, 2)
    packet.writeUInt32BE((this.#firstTimestamp + this.#position) % 2 ** 32, 4)
    packet.writeUInt32BE(this.#ssrc, 8)
    for (let i = 0; i < samples.length; i++) packet.writeInt16BE(samples[i]!, HEADER_BYTES + 2 * i)
    this.#sequence = (this.#sequence + 1) & 0xffff
    this.#position += samples.length
    return packet
  }
}

/** The samples of an RTP packet of the media session; null: it is no packet with L16, such as RTCP. */
export function samplesOf(packet: Buffer): Int16Array | null {
  if (packet.length <= HEADER_BYTES || packet[0] !== 0x80 || (packet[1]! & 0x7f) !== L16_PAYLOAD_TYPE) return null
  const samples = new Int16Array((packet.length - HEADER_BYTES) >> 1)
  for (let i = 0; i < samples.length; i++) samples[i] = packet.readInt16BE(HEADER_BYTES + 2 * i)
  return samples
}
