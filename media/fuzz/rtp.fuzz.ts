import { isRtcpCompound, RtcpCompound, readRtcp } from '../src/rtp/rtcp.ts'
import { isRtcp, RtpHeader, readRtpHeader } from '../src/rtp/rtp-packet.ts'
import type { SrtpKey } from '../src/session/media-session.ts'
import { SrtpReceiver } from '../src/srtp/srtp-receiver.ts'
import { SrtpSender } from '../src/srtp/srtp-sender.ts'

const TAG_ROOM = 14

const KEYS: readonly SrtpKey[] = [
  { suite: 'AES_CM_128_HMAC_SHA1_80', keyAndSalt: new Uint8Array(30).fill(1) },
  { suite: 'AES_CM_128_HMAC_SHA1_32', keyAndSalt: new Uint8Array(30).fill(2) },
]

const header = new RtpHeader()
const compound = new RtcpCompound()

/**
 * Any bytes as RTP, RTCP, SRTP and SRTCP, received and sent: nothing may throw, reach beyond the packet, or take what
 * carries no valid tag; what our sender protects, our receiver must restore. Throws when one of these does not hold.
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
  for (const key of KEYS) {
    const receiver = new SrtpReceiver(key)
    hold(receiver.unprotect(bytes.slice(), bytes.length) < 0, 'a forged SRTP packet was taken')
    hold(receiver.unprotectRtcp(bytes.slice(), bytes.length) < 0, 'a forged SRTCP packet was taken')
    hold(receiver.streams === 0, 'a forged packet left a stream')
    const sender = new SrtpSender(key)
    const packet = withRoom(bytes)
    const length = sender.protect(packet, bytes.length)
    if (length > 0)
      hold(receiver.unprotect(packet, length) === bytes.length && starts(packet, bytes), 'SRTP round trip')
    const report = withRoom(bytes)
    const reportLength = sender.protectRtcp(report, bytes.length)
    if (reportLength > 0) {
      hold(receiver.unprotectRtcp(report, reportLength) === bytes.length && starts(report, bytes), 'SRTCP round trip')
    }
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
