import { describe, expect, it } from 'vitest'
import { addressGroup } from './address-group.ts'
import { DEFAULT_RATE_LIMITS, RateLimiter } from './rate-limits.ts'

function limiter() {
  const clock = { now: 1_000_000 }
  return { clock, limits: new RateLimiter(DEFAULT_RATE_LIMITS, () => clock.now) }
}

function times(count: number, take: () => { refusal: unknown }): number {
  return Array.from({ length: count }, take).filter(({ refusal }) => refusal === null).length
}

describe('rate limit of a key', () => {
  it('a key has a burst of 1000 requests and then 200 a second', () => {
    const { clock, limits } = limiter()
    expect(times(1500, () => limits.takeKey('a', null, 'default'))).toBe(1000)
    clock.now += 1000
    expect(times(1500, () => limits.takeKey('a', null, 'default'))).toBe(200)
    clock.now += 3_600_000
    expect(times(1500, () => limits.takeKey('a', null, 'default'))).toBe(1000)
  })

  it('each key is counted separately', () => {
    const { limits } = limiter()
    times(1500, () => limits.takeKey('a', null, 'default'))
    expect(limits.takeKey('b', null, 'default').refusal).toBeNull()
  })

  it('a rate limit that staff set replaces the default', () => {
    const { limits } = limiter()
    expect(times(50, () => limits.takeKey('a', { perSecond: 1, burst: 7 }, 'default'))).toBe(7)
  })

  it('a key has a burst of 20 costly requests and then 2 a second, which also count as ordinary requests', () => {
    const { clock, limits } = limiter()
    expect(times(100, () => limits.takeKey('a', null, 'costly'))).toBe(20)
    clock.now += 1000
    expect(times(100, () => limits.takeKey('a', null, 'costly'))).toBe(2)
    expect(limits.takeKey('a', null, 'default').rateLimit.level).toBe('"default";r=899;t=1')
  })

  it('a refused key gets its remaining quota and the time to wait', () => {
    const { limits } = limiter()
    expect(limits.takeKey('a', null, 'default').rateLimit).toEqual({
      policy: '"default";q=1000;w=5',
      level: '"default";r=999;t=1',
    })
    times(999, () => limits.takeKey('a', null, 'default'))
    const { refusal, rateLimit } = limits.takeKey('a', null, 'default')
    expect(rateLimit.level).toBe('"default";r=0;t=5')
    expect(refusal!.envelope.error).toMatchObject({
      code: 'rate_limited',
      retryable: true,
      details: { reason: 'request_rate', retry_after_seconds: 1 },
    })
  })

  it('a clock that is set back does not slow a key', () => {
    const { clock, limits } = limiter()
    limits.takeKey('a', null, 'default')
    clock.now -= 3_600_000
    expect(limits.takeKey('a', null, 'default').rateLimit.level).toBe('"default";r=998;t=1')
  })
})

describe('rate limit of an address', () => {
  it('an address has a burst of 100 requests without a valid key and then 10 a second', () => {
    const { clock, limits } = limiter()
    expect(times(500, () => limits.takeAddress('192.0.2.1'))).toBe(100)
    expect(limits.hasAddressTokens('192.0.2.1')).toBe(false)
    clock.now += 1000
    expect(limits.hasAddressTokens('192.0.2.1')).toBe(true)
    expect(times(500, () => limits.takeAddress('192.0.2.1'))).toBe(10)
  })

  it('an IPv6 /64 counts as one address, and an IPv4 address as one in every notation', () => {
    expect(addressGroup('2001:db8:1:2:3:4:5:6')).toBe('2001:db8:1:2::/64')
    expect(addressGroup('2001:DB8:1:2::1')).toBe('2001:db8:1:2::/64')
    expect(addressGroup('2001:db8::1')).toBe('2001:db8:0:0::/64')
    expect(addressGroup('::1')).toBe('0:0:0:0::/64')
    expect(addressGroup('fe80::1%eth0')).toBe('fe80:0:0:0::/64')
    expect(addressGroup('::ffff:192.0.2.1')).toBe(addressGroup('192.0.2.1'))
  })
})
