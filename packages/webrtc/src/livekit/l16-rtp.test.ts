import { describe, expect, it } from 'vitest'
import { L16Packets, samplesOf } from './l16-rtp.ts'

const frame = Int16Array.from({ length: 320 }, (_, i) => i * 7 - 1000)
const timestampOf = (packet: Buffer) => packet.readUInt32BE(4)
const hasMarker = (packet: Buffer) => (packet[1]! & 0x80) !== 0
const between = (a: Buffer, b: Buffer) => (timestampOf(b) - timestampOf(a) + 2 ** 32) % 2 ** 32

describe('audio between a room and its media session', () => {
  it('the samples of a packet are those that were put in', () => {
    expect(samplesOf(new L16Packets().packet(frame, 0))).toEqual(frame)
  })

  it('frames that arrive unevenly follow each other without a gap', () => {
    const packets = new L16Packets()
    const [first, second, third] = [0, 75, 76].map(now => packets.packet(frame, now))
    expect([between(first!, second!), between(second!, third!)]).toEqual([320, 320])
    expect([first, second, third].map(packet => hasMarker(packet!))).toEqual([true, false, false])
    expect((third!.readUInt16BE(2) - first!.readUInt16BE(2)) & 0xffff).toBe(2)
  })

  it('a pause of the visitor is silence of the same length', () => {
    const packets = new L16Packets()
    const first = packets.packet(frame, 1000)
    const later = packets.packet(frame, 6000)
    expect(between(first, later)).toBe(5 * 16_000)
    expect(hasMarker(later)).toBe(true)
  })

  it('packets that carry no L16 are ignored', () => {
    const report = Buffer.alloc(28)
    report.writeUInt16BE(0x80c8, 0)
    expect(samplesOf(report)).toBe(null)
    expect(samplesOf(Buffer.alloc(4))).toBe(null)
  })
})
