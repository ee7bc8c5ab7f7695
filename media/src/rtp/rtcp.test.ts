import { SeededRandom } from '@parley/kernel'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  isRtcpCompound,
  ntpMiddle,
  ReportBlock,
  RtcpCompound,
  readRtcp,
  toReportDelay,
  writeBye,
  writeReceiverReport,
  writeSdesCname,
  writeSenderReport,
} from './rtcp.ts'
import { RtcpScheduler } from './rtcp-scheduler.ts'

const SSRC = 0xfeedface
const PEER = 0xcafebabe

function block(fields: Partial<ReportBlock> = {}): ReportBlock {
  return Object.assign(new ReportBlock(), { ssrc: PEER }, fields)
}

function read(packet: Uint8Array): RtcpCompound | null {
  const compound = new RtcpCompound()
  return readRtcp(packet, packet.length, compound) ? compound : null
}

describe('the times of a report (RFC 3550 section 6.4.1, figure 2)', () => {
  // 10 Nov 1995 11:33:25.125 UTC is NTP 0xb44db705:20000000.
  const sent = Date.UTC(1995, 10, 10, 11, 33, 25, 125)

  it('the time of a sender report and the delay since it have the values of the RFC 3550 example', () => {
    expect(ntpMiddle(sent)).toBe(0xb7052000)
    expect(toReportDelay(5250)).toBe(0x00054000)
  })
})

describe('compound packets (RFC 3550 section 6)', () => {
  it('a sender report, a CNAME of any length and a BYE are read back as written', () => {
    const u32 = fc.nat(0xffffffff)
    const property = fc.property(
      u32,
      u32,
      u32,
      fc.integer({ min: -0x800000, max: 0x7fffff }),
      fc.nat(255),
      fc.uint8Array({ maxLength: 255 }),
      (timestamp, packets, octets, lost, fraction, cname) => {
        const about = block({
          cumulativeLost: lost,
          fractionLost: fraction,
          extendedHighestSequence: packets,
          jitter: octets,
          lastSenderReport: timestamp,
          delaySinceLastSenderReport: packets,
        })
        const packet = new Uint8Array(400).fill(0xff)
        let end = writeSenderReport(packet, 0, SSRC, 1_700_000_000_500, timestamp, packets, octets, about)
        expect(end).toBe(52)
        end = writeSdesCname(packet, end, SSRC, cname)
        end = writeBye(packet, end, SSRC)
        const compound = read(packet.subarray(0, end))!
        expect(compound).toMatchObject({
          hasSenderReport: true,
          senderSsrc: SSRC,
          ntpMiddle: ntpMiddle(1_700_000_000_500),
          rtpTimestamp: timestamp,
          packetCount: packets,
          octetCount: octets,
          blockCount: 1,
          byeCount: 1,
          otherCount: 0,
        })
        expect(compound.blocks[0]).toEqual(about)
        expect(compound.byes[0]).toBe(SSRC)
        expect(packet.subarray(compound.cnameOffset, compound.cnameOffset + compound.cnameLength)).toEqual(cname)
      },
    )
    fc.assert(property)
  })

  it('a receiver report is read with and without a report block', () => {
    const packet = new Uint8Array(32)
    expect(writeReceiverReport(packet, 0, SSRC, null)).toBe(8)
    expect(read(packet.subarray(0, 8))).toMatchObject({ hasSenderReport: false, senderSsrc: SSRC, blockCount: 0 })
    expect(writeReceiverReport(packet, 0, SSRC, block({ jitter: 7 }))).toBe(32)
    expect(read(packet)!.blocks[0]).toMatchObject({ ssrc: PEER, jitter: 7 })
  })

  it('reading a compound packet clears the values of the previous one', () => {
    const compound = new RtcpCompound()
    const first = new Uint8Array(100)
    const end = writeBye(first, writeSdesCname(first, 0, SSRC, Uint8Array.of(65)), SSRC)
    expect(readRtcp(first, end, compound)).toBe(true)
    writeReceiverReport(first, 0, PEER, null)
    expect(readRtcp(first, 8, compound)).toBe(true)
    expect(compound).toMatchObject({ byeCount: 0, cnameLength: 0, senderSsrc: PEER })
  })

  it('an APP packet alone, as some phones send it, is accepted without values', () => {
    const app = Uint8Array.from([0x80, 204, 0, 3, 0, 0, 0, 1, ...Buffer.from('PING'), 0, 0, 0, 0])
    expect(read(app)).toMatchObject({ otherCount: 1, blockCount: 0, byeCount: 0 })
  })

  it.each([
    ['a length beyond the packet', [0x80, 201, 0, 2, 0, 0, 0, 1]],
    ['bytes left over', [0x80, 201, 0, 1, 0, 0, 0, 1, 0x80, 203]],
    ['version 1', [0x40, 201, 0, 1, 0, 0, 0, 1]],
    ['an RTP packet type', [0x80, 96, 0, 1, 0, 0, 0, 1]],
    ['padding before the last packet', [0xa0, 201, 0, 2, 0, 0, 0, 1, 0, 0, 0, 4, 0x80, 203, 0, 0]],
    ['padding of no whole word', [0xa0, 201, 0, 2, 0, 0, 0, 1, 0, 0, 0, 3]],
    ['padding that reaches into the header', [0xa0, 203, 0, 1, 0, 0, 0, 8]],
  ])('the RTCP parser refuses %s', (_, bytes) => {
    expect(isRtcpCompound(Uint8Array.from(bytes), bytes.length)).toBe(false)
    expect(read(Uint8Array.from(bytes))).toBeNull()
  })

  it.each([
    ['more report blocks than bytes', [0x81, 201, 0, 1, 0, 0, 0, 1]],
    ['a sender report without its sender part', [0x80, 200, 0, 1, 0, 0, 0, 1]],
    ['more departing sources than bytes', [0x82, 203, 0, 1, 0, 0, 0, 1]],
    ['an item longer than its chunk', [0x81, 202, 0, 2, 0, 0, 0, 1, 1, 9, 65, 0]],
    ['a chunk without an end', [0x81, 202, 0, 2, 0, 0, 0, 1, 1, 2, 65, 66]],
  ])('the RTCP parser refuses %s', (_, bytes) => {
    expect(read(Uint8Array.from(bytes))).toBeNull()
  })
})

describe('the interval of RTCP reports (RFC 3550 section 6.3.1)', () => {
  it('the first report leaves after half the interval, others every 2.05 to 6.16 s, 4.1 s on average, at random', () => {
    const scheduler = new RtcpScheduler(new SeededRandom(5), 1000)
    const factor = 1 / (Math.E - 1.5)
    expect(scheduler.nextAt).toBeGreaterThanOrEqual(1000 + 1250 * factor)
    expect(scheduler.nextAt).toBeLessThanOrEqual(1000 + 3750 * factor)
    const gaps: number[] = []
    for (let i = 0; i < 2000; i++) {
      const now = scheduler.nextAt
      expect(scheduler.due(now - 0.001)).toBe(false)
      expect(scheduler.due(now)).toBe(true)
      gaps.push(scheduler.nextAt - now)
    }
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(2500 * factor)
    expect(Math.max(...gaps)).toBeLessThanOrEqual(7500 * factor)
    expect(gaps.reduce((sum, gap) => sum + gap) / gaps.length / (5000 * factor)).toBeCloseTo(1, 1)
    expect(new Set(gaps).size).toBeGreaterThan(1900)
  })

  it('after a stall one report leaves instead of all that were missed', () => {
    const scheduler = new RtcpScheduler(new SeededRandom(5), 0)
    expect(scheduler.due(600_000)).toBe(true)
    expect(scheduler.due(600_000)).toBe(false)
  })
})
