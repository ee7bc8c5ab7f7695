import { SeededRandom } from '@parley/kernel'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { StreamLifetime, type StreamLifetimeInput } from './stream-lifetime.ts'
import { DEFAULT_STREAM_LIMITS } from './stream-limits.ts'

const MINUTE = 60_000

/** Runs a life in virtual time: `script` lists what happens when, the result what came out when, until `end`. */
function run(origin: 'accepted' | 'dialled', script: readonly [number, StreamLifetimeInput][], end: number): string[] {
  const life = new StreamLifetime(0, origin, DEFAULT_STREAM_LIMITS, new SeededRandom(7))
  const outputs: string[] = []
  const drain = (now: number) => {
    for (let output = life.poll(); output !== undefined; output = life.poll())
      outputs.push(`${Math.floor(now / 1000)} ${output.type === 'close' ? output.code : output.type}`)
  }
  const events = [...script]
  for (;;) {
    const due = life.deadline() ?? Number.POSITIVE_INFINITY
    const next = events[0]?.[0] ?? Number.POSITIVE_INFINITY
    const now = Math.min(due, next)
    if (now > end) return outputs
    if (next <= due) life.handle(now, events.shift()![1])
    else life.advance(now)
    drain(now)
  }
}

const message: StreamLifetimeInput = { type: 'valid-message' }
const answer: StreamLifetimeInput = { type: 'sent' }
const whole: StreamLifetimeInput = { type: 'received', completed: true, partial: false }
const part: StreamLifetimeInput = { type: 'received', completed: false, partial: true }
const pings = (outputs: readonly string[]) => outputs.filter(line => line.endsWith('send-ping'))

describe('lifetime of a stream connection', () => {
  it('a peer that asks for keep-alives every 10 s gets one after 8 to 10 s without a message; one that asks for 90 s changes nothing', () => {
    const seconds = (ms: number) =>
      pings(run('dialled', [[0, { type: 'keep-within', ms }]], 2 * MINUTE)).map(line => Number(line.split(' ')[0]))
    const often = [0, ...seconds(10_000)]
    expect(often.length).toBeGreaterThan(12)
    for (const [i, at] of often.slice(1).entries()) {
      expect(at - often[i]!).toBeGreaterThanOrEqual(7)
      expect(at - often[i]!).toBeLessThanOrEqual(10)
    }
    for (const at of seconds(90_000).slice(0, 1)) expect(at).toBeGreaterThanOrEqual(25)
    expect(seconds(90_000).length).toBe(4)
  })

  it('a connection on which nothing was answered within 10 s is closed, whatever it sends', () => {
    const dribble = Array.from({ length: 40 }, (_, i): [number, StreamLifetimeInput] => [i * 500, part])
    expect(run('accepted', dribble, MINUTE)).toEqual(['10 slow_sender'])
    const keepAlives = Array.from({ length: 9 }, (_, i): [number, StreamLifetimeInput] => [i * 1000, { type: 'pong' }])
    expect(run('accepted', keepAlives, MINUTE)).toEqual(['10 slow_sender'])
    const scanner = keepAlives.map(([at]): [number, StreamLifetimeInput] => [
      at,
      at % 2000 === 0 ? message : { type: 'ping' },
    ])
    expect(run('accepted', scanner, MINUTE)).toEqual(['10 slow_sender'])
  })

  it('every message must be complete 10 s after its first byte, in both directions', () => {
    const rest: [number, StreamLifetimeInput][] = [
      [30_000, part],
      [35_000, part],
      [39_000, part],
    ]
    expect(run('accepted', [[1_000, message], [1_000, answer], [1_000, whole], ...rest], MINUTE).at(-1)).toBe(
      '40 slow_sender',
    )
    expect(run('dialled', rest, MINUTE).at(-1)).toBe('40 slow_sender')
  })

  it('the time for a message starts at its own first byte, not at that of the previous one', () => {
    const script: [number, StreamLifetimeInput][] = [
      [1_000, message],
      [1_000, answer],
    ]
    for (let at = 2_000; at < 20_000; at += 3_000)
      script.push([at, part], [at + 2_000, { type: 'received', completed: true, partial: true }])
    script.push([20_500, whole])
    expect(run('accepted', script, 24_000)).toEqual([])
  })

  it('an accepted connection is closed after 15 idle minutes, a dialled one never', () => {
    expect(run('accepted', [[0, answer]], 20 * MINUTE).at(-1)).toBe('900 idle')
    expect(run('dialled', [[0, message]], 20 * MINUTE).at(-1)).toMatch(/send-ping$/)
  })

  it('keep-alives keep a connection open once a request on it was answered', () => {
    const script: [number, StreamLifetimeInput][] = [[0, answer]]
    for (let at = MINUTE; at < 60 * MINUTE; at += 10 * MINUTE) script.push([at, { type: 'ping' }])
    expect(run('accepted', script, 60 * MINUTE).filter(line => line.endsWith('idle'))).toEqual([])
  })

  it('pings are sent every 25 to 29 s, on an accepted connection only after a response was sent', () => {
    const dialled = pings(run('dialled', [], 10 * MINUTE)).map(line => Number.parseInt(line, 10))
    expect(dialled.length).toBeGreaterThan(19)
    for (const [i, at] of dialled.entries()) {
      const gap = at - (dialled[i - 1] ?? 0)
      expect(gap).toBeGreaterThanOrEqual(24)
      expect(gap).toBeLessThanOrEqual(30)
    }
    expect(pings(run('accepted', [[9_000, answer]], MINUTE))).toHaveLength(1)
  })

  it('no ping is sent while other data is sent', () => {
    const script = Array.from({ length: 30 }, (_, i): [number, StreamLifetimeInput] => [i * 20_000, { type: 'sent' }])
    expect(pings(run('dialled', script, 580_000))).toEqual([])
  })

  it('each ping is answered with one pong', () => {
    const script: [number, StreamLifetimeInput][] = [
      [100, { type: 'ping' }],
      [200, { type: 'ping' }],
    ]
    expect(run('dialled', script, 1_000)).toEqual(['0 send-pong', '0 send-pong'])
  })

  it('a connection is closed when a peer stops answering pings, but not if it never answered one', () => {
    const answered = run('dialled', [[1_000, { type: 'pong' }]], MINUTE)
    const firstPing = Number.parseInt(answered[0]!, 10)
    expect(answered).toEqual([`${firstPing} send-ping`, `${firstPing + 10} keepalive_timeout`])
    expect(run('dialled', [], 30 * MINUTE).some(line => line.endsWith('timeout'))).toBe(false)
  })

  it('any data from the peer counts as a sign of life', () => {
    const script: [number, StreamLifetimeInput][] = [[1_000, { type: 'pong' }]]
    for (let at = 5_000; at < 300_000; at += 8_000) script.push([at, whole])
    expect(run('dialled', script, 300_000).some(line => line.endsWith('timeout'))).toBe(false)
  })

  it('a connection is closed at most once, and nothing is sent afterwards, in any order of events', () => {
    const input = fc.constantFrom<StreamLifetimeInput>(message, whole, part, { type: 'ping' }, { type: 'pong' })
    const script = fc.array(fc.tuple(fc.integer({ min: 0, max: 30 * MINUTE }), input), { maxLength: 60 })
    fc.assert(
      fc.property(script, fc.constantFrom('accepted' as const, 'dialled' as const), (events, origin) => {
        const outputs = run(
          origin,
          [...events].sort((a, b) => a[0] - b[0]) as [number, StreamLifetimeInput][],
          60 * MINUTE,
        )
        const end = outputs.findIndex(line => /slow_sender|idle|timeout/.test(line))
        expect(end === -1 || end === outputs.length - 1).toBe(true)
        if (origin === 'accepted') expect(end).not.toBe(-1)
      }),
    )
  })
})
