import { SeededRandom } from '@parley/kernel'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MediaError } from '../errors.ts'
import { PortPool } from './port-pool.ts'

describe('RTP port pool', () => {
  it('leased ports are even, with their RTCP port in the range', () => {
    const pool = new PortPool({ from: 10001, to: 10006 })
    expect([pool.lease(0), pool.lease(0)]).toEqual([10002, 10004])
    expect(() => pool.lease(0)).toThrow(expect.objectContaining({ code: 'no_rtp_port', retryable: true }))
  })

  it('a released port drains before it is leased again', () => {
    const pool = new PortPool({ from: 20000, to: 20001, drainMs: 2000 })
    const port = pool.lease(0)
    pool.release(100, port)
    pool.release(100, port)
    expect(() => pool.lease(2099)).toThrow(MediaError)
    expect(pool.lease(2100)).toBe(port)
    expect(() => pool.lease(2100)).toThrow(MediaError)
  })

  it('a port in use by another process is skipped and tried again later', () => {
    const pool = new PortPool({ from: 20000, to: 20003, retryMs: 30_000 })
    pool.refuse(0, pool.lease(0))
    expect(pool.lease(0)).toBe(20002)
    expect(() => pool.lease(29_999)).toThrow(MediaError)
    expect(pool.lease(30_000)).toBe(20000)
  })

  it('leasing starts at a random port, which a dead process rarely used last, and visits every port once', () => {
    const range = { from: 10000, to: 10199 }
    const firsts = new Set(Array.from({ length: 50 }, (_, seed) => firstOf(range, seed)))
    expect(firsts.size).toBeGreaterThan(25)
    const pool = new PortPool({ ...range, random: new SeededRandom(1) })
    const leased = new Set(Array.from({ length: 100 }, () => pool.lease(0)))
    expect(leased.size).toBe(100)
    expect(() => pool.lease(0)).toThrow(MediaError)
  })

  it('a range without an even port and its neighbour is refused', () => {
    for (const [from, to] of [
      [10001, 10002],
      [0, 100],
      [65534, 65536],
      [10, 5],
    ] as const) {
      expect(() => new PortPool({ from, to })).toThrow(expect.objectContaining({ code: 'invalid_port_range' }))
    }
  })

  it('no port is leased twice at once or while it drains, in any order of calls', () => {
    fc.assert(
      fc.property(fc.array(fc.record({ wait: fc.nat(900), release: fc.boolean() }), { maxLength: 200 }), steps => {
        const pool = new PortPool({ from: 4000, to: 4015, drainMs: 1000 })
        const held: number[] = []
        const releasedAt = new Map<number, number>()
        let now = 0
        for (const { wait, release } of steps) {
          now += wait
          if (release && held.length > 0) {
            const port = held.shift()!
            pool.release(now, port)
            releasedAt.set(port, now)
          } else if (pool.available(now) > 0) {
            const port = pool.lease(now)
            expect(held).not.toContain(port)
            expect(now - (releasedAt.get(port) ?? -1000)).toBeGreaterThanOrEqual(1000)
            held.push(port)
          }
        }
        expect(pool.leased).toBe(held.length)
      }),
    )
  })
})

function firstOf(range: { readonly from: number; readonly to: number }, seed: number): number {
  return new PortPool({ ...range, random: new SeededRandom(seed) }).lease(0)
}
