import { describe, expect, it } from 'vitest'
import { VirtualCall } from './testing/virtual-call.ts'

const ALL = '1234567890*#ABCD'

describe('digits', () => {
  it.each([1, 2, 3])('digits arrive once each and in order over 5 %% loss, seed %d', async seed => {
    const call = await VirtualCall.start({ seed, conditions: { latencyMs: 40, jitterMs: 20, loss: 0.05 } })
    call.run(1000)
    call.a.session.sendDigits(ALL)
    call.run(8000)
    const digits = call.b.events.filter(e => e.type === 'digit')
    expect(digits.map(e => e.digit).join('')).toBe(ALL)
    for (const digit of digits) {
      expect(digit.durationMs).toBeGreaterThanOrEqual(40)
      expect(digit.durationMs).toBeLessThanOrEqual(200)
    }
    expect(call.a.events.filter(e => e.type === 'digits-sent').map(e => e.digits)).toEqual([ALL])
    expect(call.a.events.filter(e => e.type === 'digit')).toEqual([])
  })

  it('playout pauses while digits are sent, and no audio is lost', async () => {
    const call = await VirtualCall.start()
    call.say(call.a, 16_000)
    call.run(500)
    call.a.session.sendDigits('42')
    call.run(100)
    const during = call.a.session.played()
    call.run(100)
    expect(call.a.session.played()).toBe(during)
    call.run(4000)
    expect(call.b.listener).toMatchObject({ heard: 16_000, brokenAt: -1, gaps: 1 })
    expect(call.b.events.filter(e => e.type === 'digit').map(e => e.digit)).toEqual(['4', '2'])
    expect(await call.b.session.statistics()).toMatchObject({ packetsLost: 0, concealedSamples: 0 })
  })

  it('digits that cannot be sent are refused before any packet is sent', async () => {
    const call = await VirtualCall.start()
    expect(() => call.a.session.sendDigits('1x')).toThrow(expect.objectContaining({ code: 'invalid_digits' }))
    expect(() => call.a.session.sendDigits('1'.repeat(257))).toThrow(
      expect.objectContaining({ code: 'too_many_digits' }),
    )
    call.apply({ a: { dtmfPayloadType: null } })
    expect(() => call.a.session.sendDigits('1')).toThrow(expect.objectContaining({ code: 'digits_not_negotiated' }))
    call.run(1000)
    expect(call.b.events.filter(e => e.type === 'digit')).toEqual([])
  })
})
