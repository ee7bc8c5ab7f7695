import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fuzzRtp } from '../../fuzz/rtp.fuzz.ts'
import { isRtcp, RtpHeader, readRtpHeader, writeRtpHeader } from './rtp-packet.ts'

function read(bytes: readonly number[]): RtpHeader | null {
  const header = new RtpHeader()
  return readRtpHeader(Uint8Array.from(bytes), bytes.length, header) ? header : null
}

const FIXED = [0x80, 0xe5, 0xff, 0xfe, 0xff, 0xff, 0xff, 0x60, 0xca, 0xfe, 0xba, 0xbe]

describe('RTP header (RFC 3550 section 5.1)', () => {
  it('an RTP header is read back as written, at the limits of every field', () => {
    const edge = (max: number): fc.Arbitrary<number> => fc.oneof(fc.constant(0), fc.constant(max), fc.nat(max))
    const property = fc.property(
      edge(127),
      fc.boolean(),
      edge(0xffff),
      edge(0xffffffff),
      edge(0xffffffff),
      (payloadType, marker, sequence, timestamp, ssrc) => {
        const packet = new Uint8Array(20)
        expect(writeRtpHeader(packet, payloadType, marker, sequence, timestamp, ssrc)).toBe(12)
        const header = new RtpHeader()
        expect(readRtpHeader(packet, 20, header)).toBe(true)
        const expected = { payloadType, marker, sequence, timestamp, ssrc, payloadOffset: 12, payloadLength: 8 }
        expect({ ...header }).toEqual(expected)
      },
    )
    fc.assert(property)
  })

  it('the RTP payload starts after CSRCs and header extension, and ends before padding', () => {
    const header = read([0xb2, ...FIXED.slice(1), ...Array(8).fill(9), 0xbe, 0xde, 0, 1, 1, 2, 3, 4, 5, 6, 7, 0, 2])
    expect(header).toMatchObject({ payloadOffset: 28, payloadLength: 3, marker: true, payloadType: 101 })
  })

  it.each([
    ['one byte short', FIXED.slice(0, 11)],
    ['version 1', [0x40, ...FIXED.slice(1)]],
    ['more CSRCs than bytes', [0x81, ...FIXED.slice(1), 1, 2, 3]],
    ['an extension without its own header', [0x90, ...FIXED.slice(1), 0, 0, 0]],
    ['an extension longer than the packet', [0x90, ...FIXED.slice(1), 0, 0, 0, 2, 1, 2, 3, 4]],
    ['padding of 0', [0xa0, ...FIXED.slice(1), 1, 2, 0]],
    ['padding that reaches into the header', [0xa0, ...FIXED.slice(1), 1, 2, 4]],
  ])('the RTP parser refuses %s', (_, bytes) => {
    expect(read(bytes)).toBeNull()
  })

  it('an RTP packet may have an empty payload, or only padding', () => {
    expect(read(FIXED)?.payloadLength).toBe(0)
    expect(read([0xa0, ...FIXED.slice(1), 0, 0, 3])?.payloadLength).toBe(0)
  })

  it('the RTP parser refuses a length beyond the buffer', () => {
    expect(readRtpHeader(Uint8Array.from(FIXED), 13, new RtpHeader())).toBe(false)
  })
})

describe('RTP and RTCP on one port (RFC 5761 section 4)', () => {
  it('RTP and RTCP are distinguished by the second byte', () => {
    const kinds = Array.from({ length: 256 }, (_, type) => isRtcp(Uint8Array.from([0x80, type, 0, 1, 0, 0, 0, 0]), 8))
    expect(kinds.map((rtcp, type) => (rtcp ? type : -1)).filter(type => type >= 0)).toEqual(
      Array.from({ length: 32 }, (_, i) => 192 + i),
    )
  })
})

describe('RTP and RTCP parsers on any bytes', () => {
  it('random bytes never make a parser throw or read beyond the packet, and never authenticate', () => {
    const start = fc.constantFrom([], [0x80], [0x80, 200], [0x81, 201, 0, 7], [0x81, 202, 0, 3], [0xbf, 203], [0xb0, 0])
    const bytes = fc.tuple(start, fc.uint8Array({ maxLength: 200 }))
    fc.assert(
      fc.property(bytes, ([head, rest]) => fuzzRtp(Uint8Array.from([...head, ...rest]))),
      { numRuns: 2000 },
    )
  })
})
