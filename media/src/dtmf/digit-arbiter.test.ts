import { describe, expect, it } from 'vitest'
import { DigitArbiter } from './digit-arbiter.ts'

function taken(arbiter: DigitArbiter, nowMs: number): string {
  let digits = ''
  while (arbiter.take(nowMs)) digits += arbiter.digit
  return digits
}

describe('a key press that arrives as tones and as a telephone-event', () => {
  it('a press that arrives both ways is reported as the event alone, whichever ends first', () => {
    const eventFirst = new DigitArbiter()
    expect(eventFirst.event('5', 8000, 100)).toBe(true)
    eventFirst.tones(1120, '5', 8080, 60, true)
    expect(taken(eventFirst, 2000)).toBe('')

    const tonesFirst = new DigitArbiter()
    tonesFirst.tones(1100, '5', 8000, 60, true)
    expect(taken(tonesFirst, 1200)).toBe('')
    expect(tonesFirst.event('5', 8000, 100)).toBe(true)
    expect(taken(tonesFirst, 2000)).toBe('')
  })

  it('an event after its tones were reported is not reported again', () => {
    const arbiter = new DigitArbiter()
    arbiter.tones(1100, '5', 8000, 60, true)
    expect(taken(arbiter, 1250)).toBe('5')
    expect(arbiter.event('5', 8000, 100)).toBe(false)
  })

  it('a repeated digit, or another digit at once, is reported as a press of its own', () => {
    const arbiter = new DigitArbiter()
    arbiter.event('5', 8000, 100)
    arbiter.tones(2000, '5', 8000 + 800 + 1201, 60, false)
    arbiter.tones(2000, '6', 8000, 60, false)
    expect(taken(arbiter, 2000)).toBe('56')
    expect(arbiter.event('5', 40_000, 100)).toBe(true)
    expect(arbiter.event('5', 41_200, 100)).toBe(true)
  })

  it('tones are reported at once where no telephone-events are expected', () => {
    const arbiter = new DigitArbiter()
    arbiter.tones(1100, '5', 8000, 60, false)
    expect(taken(arbiter, 1100)).toBe('5')
  })
})
