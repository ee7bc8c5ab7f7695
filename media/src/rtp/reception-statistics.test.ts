import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ReceptionStatistics } from './reception-statistics.ts'
import {
  ExtendedSequence,
  SEQUENCE_BAD,
  SEQUENCE_PROBATION,
  SEQUENCE_RESTARTED,
  SEQUENCE_VALID,
  seqDelta,
  ticksDelta,
} from './sequence.ts'

const RATE = 8000

/** A packet of every 20 ms, `index` being its place in the stream; sequence and timestamp wrap as on the wire. */
function receive(statistics: ReceptionStatistics, index: number, delayMs = 0): void {
  statistics.update(index & 0xffff, (index * 160) >>> 0, index * 20 + delayMs, RATE)
}

describe('serial arithmetic', () => {
  it('the difference of two sequence numbers is the shortest way around', () => {
    expect(seqDelta(2, 65534)).toBe(4)
    expect(seqDelta(65534, 2)).toBe(-4)
    expect(ticksDelta(100, 0xffffffff)).toBe(101)
    expect(ticksDelta(0xffffffff, 100)).toBe(-101)
  })
})

describe('sequence numbers (RFC 3550 A.1)', () => {
  it('sequence numbers are extended through every wrap, from any start', () => {
    const gaps = fc.array(fc.oneof(fc.integer({ min: 1, max: 2999 }), fc.integer({ min: -99, max: 0 })), {
      minLength: 200,
      maxLength: 400,
    })
    const property = fc.property(fc.integer({ min: 0, max: 65535 }), gaps, (start, steps) => {
      const sequence = new ExtendedSequence()
      sequence.update(start)
      let highest = start
      let received = 1
      for (const step of steps) {
        const index = Math.max(0, highest + step)
        expect(sequence.extend(index & 0xffff)).toBe(index)
        expect(sequence.update(index & 0xffff)).toBe(SEQUENCE_VALID)
        highest = Math.max(highest, index)
        received++
        expect(sequence.highest).toBe(highest)
        expect(sequence.expected).toBe(highest - start + 1)
        expect(sequence.received).toBe(received)
      }
    })
    fc.assert(property)
  })

  it('one stray packet changes nothing; two consecutive packets after a jump restart the source', () => {
    const sequence = new ExtendedSequence()
    expect(sequence.update(100)).toBe(SEQUENCE_RESTARTED)
    expect(sequence.update(40_000)).toBe(SEQUENCE_BAD)
    expect(sequence.update(101)).toBe(SEQUENCE_VALID)
    expect([sequence.highest, sequence.received]).toEqual([101, 2])
    expect(sequence.update(50_000)).toBe(SEQUENCE_BAD)
    expect(sequence.update(50_001)).toBe(SEQUENCE_RESTARTED)
    expect([sequence.highest, sequence.expected, sequence.received]).toEqual([50_001, 1, 1])
  })

  it('a source on probation is accepted only after packets in sequence', () => {
    const sequence = new ExtendedSequence(2)
    expect([10, 20, 21].map(seq => sequence.update(seq))).toEqual([
      SEQUENCE_PROBATION,
      SEQUENCE_PROBATION,
      SEQUENCE_RESTARTED,
    ])
    expect(sequence.received).toBe(1)
  })
})

describe('loss (RFC 3550 A.3)', () => {
  it('loss counts skipped sequence numbers, in total and per interval, across a wrap', () => {
    const statistics = new ReceptionStatistics()
    for (let index = 65_500; index < 65_600; index++) if (index % 4 !== 3) receive(statistics, index)
    receive(statistics, 65_600)
    expect([statistics.received, statistics.lost]).toEqual([76, 25])
    expect(statistics.takeFractionLost()).toBe(Math.floor((25 * 256) / 101))
    for (let index = 65_601; index < 65_700; index++) receive(statistics, index)
    expect(statistics.takeFractionLost()).toBe(0)
    expect(statistics.lost).toBe(25)
  })

  it('duplicates make the cumulative loss negative, but never the fraction lost', () => {
    const statistics = new ReceptionStatistics()
    for (const index of [1, 2, 2, 2, 3]) receive(statistics, index)
    expect(statistics.lost).toBe(-2)
    expect(statistics.takeFractionLost()).toBe(0)
    expect(new ReceptionStatistics().takeFractionLost()).toBe(0)
  })

  it('the fraction lost is at most 255/256, and a new source starts at 0', () => {
    const statistics = new ReceptionStatistics()
    receive(statistics, 0)
    statistics.takeFractionLost()
    receive(statistics, 2000)
    expect(statistics.takeFractionLost()).toBe(255)
    statistics.reset()
    receive(statistics, 9)
    expect([statistics.received, statistics.lost, statistics.jitterTicks]).toEqual([1, 0, 0])
  })
})

describe('jitter (RFC 3550 A.8)', () => {
  it('jitter is 0 for an even stream of any delay, also through timestamp wraps', () => {
    const statistics = new ReceptionStatistics()
    const first = Math.floor(2 ** 32 / 160) - 50
    for (let index = first; index < first + 100; index++) receive(statistics, index, 70)
    expect(statistics.jitterTicks).toBe(0)
  })

  it('jitter grows by a sixteenth of each deviation and converges to the mean', () => {
    const statistics = new ReceptionStatistics()
    receive(statistics, 0)
    receive(statistics, 1, 10)
    expect(statistics.jitterTicks).toBeCloseTo(80 / 16)
    for (let index = 2; index < 400; index++) receive(statistics, index, index % 2 === 0 ? 0 : 10)
    expect(statistics.jitterTicks).toBeCloseTo(80)
  })

  it('a jump of the sender’s timestamps is no jitter, in either direction', () => {
    const statistics = new ReceptionStatistics()
    for (let i = 0; i < 200; i++) {
      const jump = i < 50 ? 0 : i < 100 ? 4_000_000 : i < 150 ? -3_000_000 : 2_000_000_000
      statistics.update(i, (1000 + i * 160 + jump) >>> 0, i * 20, RATE)
    }
    expect(statistics.jitterMaxTicks).toBe(0)
    expect(statistics.jitterCount).toBe(196)
  })

  it('mean and maximum of the jitter are those over the call, also over a change of source', () => {
    const statistics = new ReceptionStatistics()
    for (let i = 0; i < 400; i++) receive(statistics, i, i % 2 === 0 ? 0 : 10)
    statistics.reset()
    for (let i = 0; i < 400; i++) receive(statistics, i)
    expect(statistics.jitterTicks).toBe(0)
    expect(statistics.jitterMaxTicks).toBeCloseTo(80)
    expect(statistics.jitterSum / statistics.jitterCount).toBeGreaterThan(35)
    expect(statistics.jitterSum / statistics.jitterCount).toBeLessThan(40)
  })

  it('a pause between packets in sequence is discontinuous transmission; loss, and a gap after an offer/answer, is not', () => {
    const statistics = new ReceptionStatistics()
    receive(statistics, 0)
    receive(statistics, 50)
    expect(statistics.pauses).toBe(0)
    statistics.expectGap()
    statistics.update(51, 200 * 160, 200 * 20, RATE)
    expect(statistics.pauses).toBe(0)
    statistics.update(52, 300 * 160, 300 * 20, RATE)
    expect(statistics.pauses).toBe(1)
    expect(statistics.jitterTicks).toBe(0)
  })

  it('jitter ignores the updates of one telephone-event, which share a timestamp', () => {
    const statistics = new ReceptionStatistics()
    receive(statistics, 0)
    for (let i = 1; i <= 10; i++) statistics.update(i, 160, i * 20, RATE)
    statistics.update(11, 11 * 160, 11 * 20, RATE)
    expect(statistics.jitterTicks).toBe(0)
    expect(statistics.received).toBe(12)
  })
})
