import { describe, expect, it } from 'vitest'
import { readInfoDigit, writeInfoDigit } from './info-digits.ts'

const body = (contentType: string, text: string) => ({ contentType, bytes: new TextEncoder().encode(text) })

describe('digits in INFO', () => {
  it.each([
    ['application/dtmf-relay', 'Signal=5\r\nDuration=160\r\n', '5', 160],
    ['application/dtmf-relay', 'Signal= *\nDuration= 250\n', '*', 250],
    ['application/dtmf-relay', 'signal=11', '#', 160],
    ['application/dtmf-relay', 'Signal=a\r\nDuration=99999\r\n', 'A', 10_000],
    ['application/dtmf', '7\r\n', '7', 160],
    ['application/dtmf', '10', '*', 160],
  ])('an INFO body %s %j is the digit %s of %i ms', (type, text, digit, durationMs) => {
    expect(readInfoDigit(body(type, text))).toEqual({ digit, durationMs })
  })

  it.each([
    ['application/dtmf', ''],
    ['application/dtmf', '55'],
    ['application/dtmf', '16'],
    ['application/dtmf-relay', 'Duration=160'],
    ['application/dtmf-relay', 'Signal=hello'],
    ['application/dtmf-relay', `Signal=5${' '.repeat(300)}`],
    ['text/plain', '5'],
  ])('an INFO body %s %j holds no digit', (type, text) => {
    expect(readInfoDigit(body(type, text))).toBeNull()
  })

  it('a digit written to an INFO body is read back unchanged', () => {
    for (const digit of '0123456789*#ABCD')
      expect(readInfoDigit(writeInfoDigit(digit, 120))).toEqual({ digit, durationMs: 120 })
  })
})
