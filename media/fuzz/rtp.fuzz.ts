import { isRtcpCompound, RtcpCompound, readRtcp } from '../src/rtp/rtcp.ts'
import { isRtcp, RtpHeader, readRtpHeader, rtpHeaderLength } from '../src/rtp/rtp-packet.ts'
import type { SrtpKey } from '../src/session/media-session.ts'
import { SrtpReceiver } from '../src/srtp/srtp-receiver.ts'
import { SrtpSender } from '../src/srtp/srtp-sender.ts'

const TAG_ROOM = 14

const KEYS: readonly SrtpKey[] = [
  { suite: 'AES_CM_128_HMAC_SHA1_80', keyAndSalt: new Uint8Array(30).fill(1) },
  { suite: 'AES_CM_128_HMAC_SHA1_32', keyAndSalt: new Uint8Array(30).fill(2) },
]

/** Shared by all inputs, since none may change them. */
const RECEIVERS = KEYS.map(key => new SrtpReceiver(key))

const header = new RtpHeader()
const compound = new RtcpCompound()

/**
 * Processes any bytes as RTP, RTCP, SRTP and SRTCP, received and sent: nothing may throw, read beyond the packet, or
 * accept a packet without a valid tag; the receiver must restore what the sender protects. Throws when one of these is
 * violated.
 */
export function fuzzRtp(bytes: Uint8Array): void {
  isRtcp(bytes, bytes.length)
  if (readRtpHeader(bytes, bytes.length, header)) {
    hold(header.payloadOffset + header.payloadLength <= bytes.length && header.payloadLength >= 0, 'payload range')
  }
  if (readRtcp(bytes, bytes.length, compound)) {
    hold(isRtcpCompound(bytes, bytes.length), 'compound structure')
    hold(compound.cnameLength === 0 || compound.cnameOffset + compound.cnameLength <= bytes.length, 'CNAME range')
    hold(compound.blockCount <= compound.blocks.length && compound.byeCount <= compound.byes.length, 'counts')
  }
  for (const receiver of RECEIVERS) {
    hold(receiver.unprotect(bytes.slice(), bytes.length) < 0, 'a forged SRTP packet was taken')
    hold(receiver.unprotectRtcp(bytes.slice(), bytes.length) < 0, 'a forged SRTCP packet was taken')
    hold(receiver.streams === 0, 'a forged packet left a stream')
  }
  // Contexts are expensive and these must be new: the last input may have had the same sequence number.
  if (rtpHeaderLength(bytes, bytes.length) >= 0) roundTrip(bytes, 'protect', 'unprotect')
  if (isRtcp(bytes, bytes.length) && bytes.length >= 8) roundTrip(bytes, 'protectRtcp', 'unprotectRtcp')
}

function roundTrip(
  bytes: Uint8Array,
  protect: 'protect' | 'protectRtcp',
  unprotect: 'unprotect' | 'unprotectRtcp',
): void {
  for (const key of KEYS) {
    const packet = withRoom(bytes)
    const length = new SrtpSender(key)[protect](packet, bytes.length)
    hold(length > bytes.length, `${protect} refused a well-formed packet`)
    hold(new SrtpReceiver(key)[unprotect](packet, length) === bytes.length, `${unprotect} refused what we protected`)
    hold(starts(packet, bytes), `${unprotect} restored something else`)
  }
}

function withRoom(bytes: Uint8Array): Uint8Array {
  const packet = new Uint8Array(bytes.length + TAG_ROOM)
  packet.set(bytes)
  return packet
}

function starts(packet: Uint8Array, bytes: Uint8Array): boolean {
  return bytes.every((byte, i) => packet[i] === byte)
}

function hold(condition: boolean, what: string): void {
  if (!condition) throw new Error(what)
}
