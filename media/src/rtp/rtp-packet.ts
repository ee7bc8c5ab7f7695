import type { RtpTicks, Seq16 } from '@parley/kernel'

/** Size of an RTP header without CSRCs and extension: the only kind that is sent. */
export const RTP_HEADER_BYTES = 12

/** The fields of one received packet (RFC 3550 section 5.1), mutable so that one instance serves a whole thread. */
export class RtpHeader {
  marker = false
  /** 0 to 127. */
  payloadType = 0
  sequence: Seq16 = 0
  timestamp: RtpTicks = 0
  /** Unsigned 32 bits. */
  ssrc = 0
  /** Where the payload starts: behind CSRCs and header extension. */
  payloadOffset = 0
  /** Without padding; 0 is valid. */
  payloadLength = 0
}

/**
 * Length of the header: fixed header, CSRC list and header extension (RFC 3550 sections 5.1 and 5.3.1), or -1 when the
 * version is not 2 or they do not fit into `length`. Padding is not checked: under SRTP it is still encrypted.
 */
export function rtpHeaderLength(packet: Uint8Array, length: number): number {
  if (length < RTP_HEADER_BYTES || length > packet.length) return -1
  const first = packet[0]!
  if (first >>> 6 !== 2) return -1
  let offset = RTP_HEADER_BYTES + 4 * (first & 0x0f)
  if ((first & 0x10) !== 0) {
    if (offset + 4 > length) return -1
    offset += 4 + 4 * ((packet[offset + 2]! << 8) | packet[offset + 3]!)
  }
  return offset > length ? -1 : offset
}

/**
 * Reads the header of the first `length` bytes of `packet`. False when anything is malformed (version, CSRC count,
 * extension or padding beyond the packet); `into` is then unspecified. Never throws.
 */
export function readRtpHeader(packet: Uint8Array, length: number, into: RtpHeader): boolean {
  const offset = rtpHeaderLength(packet, length)
  if (offset < 0) return false
  let end = length
  if ((packet[0]! & 0x20) !== 0) {
    const padding = packet[length - 1]!
    if (padding === 0 || padding > length - offset) return false
    end -= padding
  }
  const second = packet[1]!
  into.marker = second >= 0x80
  into.payloadType = second & 0x7f
  into.sequence = (packet[2]! << 8) | packet[3]!
  into.timestamp = readUint32(packet, 4)
  into.ssrc = readUint32(packet, 8)
  into.payloadOffset = offset
  into.payloadLength = end - offset
  return true
}

/** Writes a header without CSRCs, extension or padding at the start of `dst`; returns its length, always 12. */
export function writeRtpHeader(
  dst: Uint8Array,
  payloadType: number,
  marker: boolean,
  sequence: Seq16,
  timestamp: RtpTicks,
  ssrc: number,
): number {
  dst[0] = 0x80
  dst[1] = (marker ? 0x80 : 0) | (payloadType & 0x7f)
  dst[2] = sequence >>> 8
  dst[3] = sequence
  writeUint32(dst, 4, timestamp)
  writeUint32(dst, 8, ssrc)
  return RTP_HEADER_BYTES
}

/**
 * True when a packet on a port shared by RTP and RTCP is RTCP: version 2 and packet type 192 to 223 (RFC 5761 section 4).
 * The second byte stays in clear under SRTP and SRTCP, so this works before unprotecting.
 */
export function isRtcp(packet: Uint8Array, length: number): boolean {
  if (length < 4 || length > packet.length) return false
  return packet[0]! >>> 6 === 2 && packet[1]! >= 192 && packet[1]! <= 223
}

/** Big-endian, unsigned; the caller has checked the bounds. */
export function readUint32(bytes: Uint8Array, offset: number): number {
  return ((bytes[offset]! << 24) | (bytes[offset + 1]! << 16) | (bytes[offset + 2]! << 8) | bytes[offset + 3]!) >>> 0
}

/** Big-endian, the lowest 32 bits of `value`; the caller has checked the bounds. */
export function writeUint32(bytes: Uint8Array, offset: number, value: number): void {
  bytes[offset] = value >>> 24
  bytes[offset + 1] = value >>> 16
  bytes[offset + 2] = value >>> 8
  bytes[offset + 3] = value
}
