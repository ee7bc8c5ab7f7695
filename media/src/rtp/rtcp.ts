import type { Ms, RtpTicks, UnixMs } from '@parley/kernel'
import { readUint32, writeUint32 } from './rtp-packet.ts'

const SENDER_REPORT = 200
const RECEIVER_REPORT = 201
const SOURCE_DESCRIPTION = 202
const GOODBYE = 203
const CNAME = 1
const REPORT_BLOCK_BYTES = 24
const MAX_COUNT = 31

/** Seconds from 1900 (NTP) to 1970 (Unix). */
const NTP_UNIX_OFFSET_S = 2208988800

/** One reception report block (RFC 3550 section 6.4.1), mutable and reusable. */
export class ReportBlock {
  /** The source this block is about. */
  ssrc = 0
  /** In 1/256 since the last report. */
  fractionLost = 0
  /** Signed 24 bits. */
  cumulativeLost = 0
  extendedHighestSequence = 0
  /** In timestamp units. */
  jitter = 0
  /** Middle 32 bits of the NTP time in the last sender report; 0: none came yet. */
  lastSenderReport = 0
  /** In 1/65536 s; 0: none came yet. */
  delaySinceLastSenderReport = 0
}

/** Middle 32 bits of the NTP time (RFC 3550 section 4): what `lastSenderReport` refers to. */
export function ntpMiddle(wallClock: UnixMs): number {
  return ((ntpSeconds(wallClock) << 16) | (ntpFraction(wallClock) >>> 16)) >>> 0
}

/** A span as reports carry it: 1/65536 s. */
export function toReportDelay(span: Ms): number {
  return Math.min(0xffffffff, Math.max(0, Math.round(span * 65.536)))
}

/** Sender report (RFC 3550 section 6.4.1); `wallClock` and `timestamp` name the same instant. Returns the offset behind it. */
export function writeSenderReport(
  dst: Uint8Array,
  offset: number,
  ssrc: number,
  wallClock: UnixMs,
  timestamp: RtpTicks,
  packetCount: number,
  octetCount: number,
  block: ReportBlock | null,
): number {
  const end = offset + 28 + (block === null ? 0 : REPORT_BLOCK_BYTES)
  writeRtcpHeader(dst, offset, block === null ? 0 : 1, SENDER_REPORT, end)
  writeUint32(dst, offset + 4, ssrc)
  writeUint32(dst, offset + 8, ntpSeconds(wallClock))
  writeUint32(dst, offset + 12, ntpFraction(wallClock))
  writeUint32(dst, offset + 16, timestamp)
  writeUint32(dst, offset + 20, packetCount)
  writeUint32(dst, offset + 24, octetCount)
  if (block !== null) writeReportBlock(dst, offset + 28, block)
  return end
}

/** Receiver report (RFC 3550 section 6.4.2), empty without `block`. Returns the offset behind it. */
export function writeReceiverReport(dst: Uint8Array, offset: number, ssrc: number, block: ReportBlock | null): number {
  const end = offset + 8 + (block === null ? 0 : REPORT_BLOCK_BYTES)
  writeRtcpHeader(dst, offset, block === null ? 0 : 1, RECEIVER_REPORT, end)
  writeUint32(dst, offset + 4, ssrc)
  if (block !== null) writeReportBlock(dst, offset + 8, block)
  return end
}

/** Source description with the CNAME alone (RFC 3550 section 6.5.1); `cname` is UTF-8, at most 255 bytes (more are cut). */
export function writeSdesCname(dst: Uint8Array, offset: number, ssrc: number, cname: Uint8Array): number {
  const length = Math.min(cname.length, 255)
  // The chunk ends with at least one zero byte, at a word boundary.
  const end = offset + 8 + ((2 + length + 4) & ~3)
  writeRtcpHeader(dst, offset, 1, SOURCE_DESCRIPTION, end)
  writeUint32(dst, offset + 4, ssrc)
  dst[offset + 8] = CNAME
  dst[offset + 9] = length
  for (let i = 0; i < length; i++) dst[offset + 10 + i] = cname[i]!
  dst.fill(0, offset + 10 + length, end)
  return end
}

/** Goodbye without a reason (RFC 3550 section 6.6). */
export function writeBye(dst: Uint8Array, offset: number, ssrc: number): number {
  writeRtcpHeader(dst, offset, 1, GOODBYE, offset + 8)
  writeUint32(dst, offset + 4, ssrc)
  return offset + 8
}

function writeRtcpHeader(dst: Uint8Array, offset: number, count: number, type: number, end: number): void {
  const words = (end - offset) / 4 - 1
  dst[offset] = 0x80 | count
  dst[offset + 1] = type
  dst[offset + 2] = words >>> 8
  dst[offset + 3] = words
}

function writeReportBlock(dst: Uint8Array, offset: number, block: ReportBlock): void {
  writeUint32(dst, offset, block.ssrc)
  writeUint32(dst, offset + 4, (block.fractionLost << 24) | (block.cumulativeLost & 0xffffff))
  writeUint32(dst, offset + 8, block.extendedHighestSequence)
  writeUint32(dst, offset + 12, block.jitter)
  writeUint32(dst, offset + 16, block.lastSenderReport)
  writeUint32(dst, offset + 20, block.delaySinceLastSenderReport)
}

function ntpSeconds(wallClock: UnixMs): number {
  return (Math.floor(wallClock / 1000) + NTP_UNIX_OFFSET_S) >>> 0
}

function ntpFraction(wallClock: UnixMs): number {
  return Math.floor(((wallClock / 1000) % 1) * 2 ** 32) >>> 0
}

/** Values of one received compound packet; the object is reused for each packet. */
export class RtcpCompound {
  /** A flag beside plain numbers instead of a nullable object, so that reading allocates nothing. */
  hasSenderReport = false
  /** SSRC of the sender of the report; 0 when the compound held no report. */
  senderSsrc = 0
  /** For the next `lastSenderReport`. */
  ntpMiddle = 0
  rtpTimestamp: RtpTicks = 0
  packetCount = 0
  octetCount = 0
  /** The first `blockCount` count; those beyond 31 are left out. */
  readonly blocks: readonly ReportBlock[] = Array.from({ length: MAX_COUNT }, () => new ReportBlock())
  blockCount = 0
  /** The first `byeCount` count: sources that left. */
  readonly byes = new Uint32Array(MAX_COUNT)
  byeCount = 0
  /** CNAME of the first described source, as a range of the packet; `cnameLength` 0: none. */
  cnameOffset = 0
  cnameLength = 0
  /** Packets of other types (APP, feedback), skipped. */
  otherCount = 0
}

/**
 * True when the first `length` bytes have the structure of a compound packet (RFC 3550 section 6.1, A.2): versions,
 * packet types, lengths that add up, padding at the very end only. One that does not begin with a report passes
 * (RFC 5506; some phones send APP alone). Never throws.
 */
export function isRtcpCompound(packet: Uint8Array, length: number): boolean {
  if (length < 4 || length > packet.length) return false
  let offset = 0
  while (offset < length) {
    if (offset + 4 > length) return false
    const first = packet[offset]!
    const type = packet[offset + 1]!
    const next = nextRtcp(packet, offset)
    if (first >>> 6 !== 2 || type < 192 || type > 223 || next > length) return false
    if ((first & 0x20) !== 0) {
      const padding = packet[next - 1]!
      if (next !== length || padding === 0 || (padding & 3) !== 0 || padding > next - offset - 4) return false
    }
    offset = next
  }
  return true
}

/**
 * Reads a compound packet. False when its structure is broken (`isRtcpCompound`) or a count reaches beyond its packet;
 * `into` is then unspecified. Never throws.
 */
export function readRtcp(packet: Uint8Array, length: number, into: RtcpCompound): boolean {
  if (!isRtcpCompound(packet, length)) return false
  into.hasSenderReport = false
  into.senderSsrc = 0
  into.blockCount = 0
  into.byeCount = 0
  into.cnameLength = 0
  into.otherCount = 0
  for (let offset = 0; offset < length; ) {
    const first = packet[offset]!
    const next = nextRtcp(packet, offset)
    const end = (first & 0x20) === 0 ? next : next - packet[next - 1]!
    if (!readOne(packet, offset, end, first & 0x1f, into)) return false
    offset = next
  }
  return true
}

function nextRtcp(packet: Uint8Array, offset: number): number {
  return offset + 4 + 4 * ((packet[offset + 2]! << 8) | packet[offset + 3]!)
}

function readOne(packet: Uint8Array, offset: number, end: number, count: number, into: RtcpCompound): boolean {
  switch (packet[offset + 1]!) {
    case SENDER_REPORT:
      if (offset + 28 + count * REPORT_BLOCK_BYTES > end) return false
      into.hasSenderReport = true
      into.ntpMiddle = ((readUint32(packet, offset + 8) << 16) | (readUint32(packet, offset + 12) >>> 16)) >>> 0
      into.rtpTimestamp = readUint32(packet, offset + 16)
      into.packetCount = readUint32(packet, offset + 20)
      into.octetCount = readUint32(packet, offset + 24)
      readReport(packet, offset, offset + 28, count, into)
      return true
    case RECEIVER_REPORT:
      if (offset + 8 + count * REPORT_BLOCK_BYTES > end) return false
      readReport(packet, offset, offset + 8, count, into)
      return true
    case SOURCE_DESCRIPTION:
      return readSourceDescription(packet, offset + 4, end, count, into)
    case GOODBYE:
      if (offset + 4 + 4 * count > end) return false
      for (let i = 0; i < count && into.byeCount < MAX_COUNT; i++) {
        into.byes[into.byeCount++] = readUint32(packet, offset + 4 + 4 * i)
      }
      return true
    default:
      into.otherCount++
      return true
  }
}

function readReport(packet: Uint8Array, offset: number, blocksAt: number, count: number, into: RtcpCompound): void {
  into.senderSsrc = readUint32(packet, offset + 4)
  for (let i = 0; i < count && into.blockCount < MAX_COUNT; i++) {
    const at = blocksAt + i * REPORT_BLOCK_BYTES
    const block = into.blocks[into.blockCount++]!
    const loss = readUint32(packet, at + 4)
    block.ssrc = readUint32(packet, at)
    block.fractionLost = loss >>> 24
    block.cumulativeLost = (loss << 8) >> 8
    block.extendedHighestSequence = readUint32(packet, at + 8)
    block.jitter = readUint32(packet, at + 12)
    block.lastSenderReport = readUint32(packet, at + 16)
    block.delaySinceLastSenderReport = readUint32(packet, at + 20)
  }
}

/** Chunks of SSRC and items, each closed by zero bytes up to a word boundary (RFC 3550 section 6.5). */
function readSourceDescription(
  packet: Uint8Array,
  offset: number,
  end: number,
  count: number,
  into: RtcpCompound,
): boolean {
  let at = offset
  for (let chunk = 0; chunk < count; chunk++) {
    if (at + 4 > end) return false
    at += 4
    for (;;) {
      if (at >= end) return false
      const item = packet[at]!
      if (item === 0) break
      if (at + 2 > end) return false
      const length = packet[at + 1]!
      if (at + 2 + length > end) return false
      if (item === CNAME && into.cnameLength === 0) {
        into.cnameOffset = at + 2
        into.cnameLength = length
      }
      at += 2 + length
    }
    at = offset + ((at - offset + 4) & ~3)
    if (at > end) return false
  }
  return true
}
