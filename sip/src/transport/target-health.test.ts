import { describe, expect, it } from 'vitest'
import { TargetHealth } from './target-health.ts'
import type { Target } from './transport.ts'

const target = (address: string, serverName = 'trunk.example'): Target => ({
  transport: 'tls',
  address,
  port: 5061,
  serverName,
})
const [a, b, c] = ['192.0.2.1', '192.0.2.2', '192.0.2.3'].map(address => target(address)) as [Target, Target, Target]

describe('TargetHealth', () => {
  it('a failed target is tried last for 30 s or for its Retry-After, then in its normal place', () => {
    const health = new TargetHealth()
    health.unavailable(a, 0, 60_000)
    health.failed(b, 0)
    expect(health.order([a, b, c], 1)).toEqual([c, b, a])
    expect(health.order([a, b, c], 30_000)).toEqual([b, c, a])
    expect(health.order([a, b, c], 60_000)).toEqual([a, b, c])
  })

  it('a failure is forgotten when the target works again, at the latest after 10 minutes', () => {
    const health = new TargetHealth()
    health.unavailable(a, 0, 1e12)
    health.failed(b, 0)
    health.worked(b)
    expect(health.order([a, b], 599_999)).toEqual([b, a])
    expect(health.order([a, b], 600_000)).toEqual([a, b])
  })

  it('an answer to OPTIONS ends a failure, but not the time that a target asked for by Retry-After', () => {
    const health = new TargetHealth()
    health.failed(a, 0)
    health.answered(a)
    expect(health.order([a, b], 1)).toEqual([a, b])
    health.unavailable(a, 0, 60_000)
    health.failed(a, 1)
    health.answered(a)
    expect(health.order([a, b], 59_999)).toEqual([b, a])
    health.worked(a)
    expect(health.order([a, b], 2)).toEqual([a, b])
  })

  it('a failure counts for one certificate name only, and the number of remembered failures is limited', () => {
    const health = new TargetHealth(2)
    health.failed(target('192.0.2.1', 'other.example'), 0)
    expect(health.order([a, b], 1)).toEqual([a, b])
    health.failed(a, 0)
    for (let i = 4; i < 8; i++) health.failed(target(`192.0.2.${i}`), 0)
    for (const each of [b, c]) health.failed(each, 0)
    expect(health.order([c, b, a], 1)).toEqual([a, c, b])
  })
})
