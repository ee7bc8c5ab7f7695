import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PLAY_QUEUE_MS, PlayQueue } from './play-queue.ts'
import { SessionRings } from './session-rings.ts'

const RING_SAMPLES = new SessionRings().outboundSamples

/** Audio whose samples tell where they stand in everything ever queued. */
function numbered(from: number, count: number): Int16Array {
  return Int16Array.from({ length: count }, (_, i) => (from + i) & 0x7fff)
}

describe('play queue', () => {
  it('the play queue plays all audio once and in order, also what did not fit into the ring at first', () => {
    const rings = new SessionRings()
    const queue = new PlayQueue(rings)
    const total = RING_SAMPLES * 2 + 777
    expect(queue.play(numbered(0, total))).toBe(total)
    const into = new Int16Array(160)
    let expected = 0
    for (let n = rings.takeOutbound(into, 160); n > 0; n = rings.takeOutbound(into, 160)) {
      for (let i = 0; i < n; i++) expect(into[i]).toBe(expected++ & 0x7fff)
      queue.refill()
      expect(queue.played()).toBe(expected)
      expect(queue.queued()).toBe(total - expected)
    }
    expect(expected).toBe(total)
  })

  it('the queue holds ten minutes and refuses more with play_queue_full', () => {
    const queue = new PlayQueue(new SessionRings())
    for (let minute = 0; minute < 10; minute++) queue.play(new Int16Array((PLAY_QUEUE_MS * 8) / 10))
    expect(() => queue.play(new Int16Array(1))).toThrow(expect.objectContaining({ code: 'play_queue_full' }))
    expect(queue.flush()).toBe(0)
    expect(queue.play(new Int16Array(1))).toBe(1)
  })

  it('after a flush the position counts only sent audio, and flushed audio is never sent', () => {
    const operation = fc.oneof(
      fc.record({ kind: fc.constant('play' as const), count: fc.integer({ min: 0, max: 20_000 }) }),
      fc.record({ kind: fc.constant('take' as const), count: fc.integer({ min: 1, max: 480 }) }),
      fc.record({ kind: fc.constant('flush' as const), count: fc.constant(0) }),
      fc.record({ kind: fc.constant('refill' as const), count: fc.constant(0) }),
    )
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 60 }), operations => {
        const rings = new SessionRings()
        const queue = new PlayQueue(rings)
        const into = new Int16Array(480)
        let model: number[] = []
        let made = 0
        let left = 0
        for (const { kind, count } of operations) {
          if (kind === 'play') {
            const audio = numbered(made, count)
            made += count
            model.push(...audio)
            expect(queue.play(audio)).toBe(left + model.length)
            audio.fill(-1)
          } else if (kind === 'flush') {
            expect(queue.flush()).toBe(left)
            model = []
          } else if (kind === 'refill') {
            queue.refill()
          } else {
            const n = rings.takeOutbound(into, count)
            expect([...into.subarray(0, n)]).toEqual(model.splice(0, n))
            left += n
          }
          expect([queue.played(), queue.queued()]).toEqual([left, model.length])
        }
      }),
    )
  })

  it('progress reports under way during a flush are translated to the new positions', () => {
    const rings = new SessionRings()
    const queue = new PlayQueue(rings)
    const into = new Int16Array(160)
    queue.play(new Int16Array(1000))
    rings.takeOutbound(into, 160)
    const underWay = rings.outboundTaken()
    expect(queue.flush()).toBe(160)
    queue.play(new Int16Array(500))
    rings.takeOutbound(into, 160)
    expect(queue.positionOf(underWay)).toBe(160)
    expect(queue.positionOf(rings.outboundTaken())).toBe(320)
  })
})

describe('heard ring', () => {
  it('a ring that is read late drops and counts the oldest audio', () => {
    const rings = new SessionRings()
    rings.setHeardOrigin(8000)
    for (let written = 0; written < 40_000; written += 160) rings.writeHeard(numbered(written, 160), 160)
    const into = new Int16Array(rings.heardSamples)
    const n = rings.readHeard(into)
    expect(rings.heardOverrun()).toBe(40_000 - n)
    expect(n).toBeGreaterThan(rings.heardSamples / 2)
    expect(into[0]).toBe((40_000 - n) & 0x7fff)
    expect(into[n - 1]).toBe(39_999 & 0x7fff)
    expect(rings.heardRead()).toBe(40_000)
    expect(rings.readHeard(into)).toBe(0)
  })
})
