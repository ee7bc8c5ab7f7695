import { SeededRandom } from '@parley/kernel'
import { describe, expect, it } from 'vitest'
import { RegistrationMachine } from './registration-machine.ts'

const MINUTE = 60_000
const machine = (expiresS = 600) => new RegistrationMachine(expiresS, new SeededRandom(1))
const refused = (status: number, minExpiresS?: number, retryAfterS?: number) =>
  ({ type: 'refused', status, minExpiresS, retryAfterS }) as const

describe('a registration', () => {
  it('a registration is refreshed at half the granted time', () => {
    const registration = machine()
    expect(registration.handle({ type: 'start' }, 0)).toEqual([{ type: 'register', expiresS: 600 }])
    expect(registration.handle({ type: 'accepted', grantedS: 120 }, 1000)).toEqual([{ type: 'wait', until: 61_000 }])
    expect(registration.state(61_000)).toBe('registered')
    expect(registration.handle({ type: 'due' }, 61_000)).toEqual([{ type: 'register', expiresS: 600 }])
  })

  it('a registration is never refreshed more often than every 10 s, whatever the registrar grants', () => {
    const registration = machine()
    registration.handle({ type: 'start' }, 0)
    expect(registration.handle({ type: 'accepted', grantedS: 1 }, 0)).toEqual([{ type: 'wait', until: 10_000 }])
  })

  it('requests the registrar’s shortest interval after a 423, and keeps it for later refreshes', () => {
    const registration = machine()
    registration.handle({ type: 'start' }, 0)
    expect(registration.handle(refused(423, 3600), 0)).toEqual([{ type: 'register', expiresS: 3600 }])
    registration.handle({ type: 'accepted', grantedS: 3600 }, 0)
    expect(registration.handle({ type: 'due' }, 30 * MINUTE)).toEqual([{ type: 'register', expiresS: 3600 }])
  })

  it.each([
    ['a second 423 in one attempt', [refused(423, 700), refused(423, 800)]],
    ['a 423 without Min-Expires', [refused(423)]],
    ['a Min-Expires that is no longer than the requested interval', [refused(423, 600)]],
    ['a Min-Expires of more than a day', [refused(423, 86_401)]],
  ])('backs off after %s', (_what, responses) => {
    const registration = machine()
    registration.handle({ type: 'start' }, 0)
    const outputs = responses.map(response => registration.handle(response, 0)).at(-1)
    expect(outputs).toMatchObject([{ type: 'wait' }])
  })

  it('a registration waits 30 s after the first failure, longer after each further one, and never more than 30 minutes', () => {
    const registration = machine()
    registration.handle({ type: 'start' }, 0)
    const waits: number[] = []
    for (let now = 0; waits.length < 12; ) {
      const [output] = registration.handle({ type: 'failed' }, now)
      if (output?.type !== 'wait') throw new Error('no back-off')
      waits.push(output.until - now)
      now = output.until
      registration.handle({ type: 'due' }, now)
    }
    expect(waits[0]).toBeGreaterThanOrEqual(30_000)
    expect(waits[0]).toBeLessThan(37_500)
    expect(waits.every((wait, i) => i === 0 || wait >= waits[i - 1]!)).toBe(true)
    expect(waits.at(-1)).toBe(30 * MINUTE)
  })

  it('honours Retry-After up to 30 minutes', () => {
    const wait = (retryAfterS: number) => {
      const registration = machine()
      registration.handle({ type: 'start' }, 0)
      return registration.handle(refused(503, undefined, retryAfterS), 0)
    }
    expect(wait(300)).toEqual([{ type: 'wait', until: 300_000 }])
    expect(wait(1e9)).toEqual([{ type: 'wait', until: 30 * MINUTE }])
  })

  it('a registration stays registered after a failed refresh until the binding expires, and begins with a short back-off after a success', () => {
    const registration = machine()
    registration.handle({ type: 'start' }, 0)
    registration.handle({ type: 'accepted', grantedS: 600 }, 0)
    registration.handle({ type: 'due' }, 300_000)
    registration.handle({ type: 'failed' }, 300_000)
    expect(registration.state(599_999)).toBe('registered')
    expect(registration.state(600_000)).toBe('failed')
  })

  it('a registration is made anew at once when its connection closes, and with back-off when that happens within 30 s', () => {
    const registration = machine()
    registration.handle({ type: 'start' }, 0)
    registration.handle({ type: 'accepted', grantedS: 600 }, 0)
    expect(registration.handle({ type: 'flow-lost' }, MINUTE)).toEqual([{ type: 'register', expiresS: 600 }])
    registration.handle({ type: 'accepted', grantedS: 600 }, MINUTE)
    expect(registration.handle({ type: 'flow-lost' }, MINUTE + 5000)).toMatchObject([{ type: 'wait' }])
    expect(registration.state(MINUTE + 5000)).toBe('failed')
  })

  it('a registration removes its binding when it is stopped, after a request that is in progress', () => {
    const registration = machine()
    registration.handle({ type: 'start' }, 0)
    expect(registration.handle({ type: 'stop' }, 0)).toEqual([])
    expect(registration.handle({ type: 'accepted', grantedS: 600 }, 0)).toEqual([{ type: 'register', expiresS: 0 }])
    expect(registration.handle(refused(500), 0)).toEqual([])
    expect(registration.isOver).toBe(true)
    expect(registration.state(0)).toBe('unregistered')
  })

  it('a registration sends nothing when it is stopped before it began', () => {
    const registration = machine()
    expect(registration.handle({ type: 'stop' }, 0)).toEqual([])
    expect(registration.isOver).toBe(true)
    expect(registration.handle({ type: 'start' }, 0)).toEqual([])
  })
})
