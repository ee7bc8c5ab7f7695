import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { answerBody } from './answer-body.ts'

const bodyOf = (text: string) => answerBody(Buffer.from(text))

describe('the body of an HTTP response', () => {
  it.each([
    ['{"slots":[{"time":"9:00"}]}', { slots: [{ time: '9:00' }] }],
    [' [1, 2]\n', [1, 2]],
    ['"words"', 'words'],
    ['12', 12],
    ['null', null],
    ['\ufeff{"a":1}', { a: 1 }],
    ['"José"', 'José'],
  ])('the response %s is parsed as JSON', (text, value) => expect(bodyOf(text)).toEqual(value))

  it.each(['Booked!', '{"a":', '{a:1}', '<html></html>', '[1,]', 'NaN'])('the response %s is read as text', text =>
    expect(bodyOf(text)).toBe(text),
  )

  it.each(['', ' \r\n'])('the blank response %j is null', text => expect(bodyOf(text)).toBeNull())

  it('invalid UTF-8 in a response is replaced', () => {
    expect(answerBody(Buffer.from([0x4a, 0xe9]))).toBe('J\ufffd')
  })

  it('a response nested deeper than 64 levels is read as text', () => {
    expect(bodyOf('['.repeat(64) + ']'.repeat(64))).toBeInstanceOf(Array)
    for (const deep of [
      '['.repeat(65) + ']'.repeat(65),
      `${'{"a":'.repeat(65)}1${'}'.repeat(65)}`,
      '['.repeat(1_000_000),
    ])
      expect(bodyOf(deep)).toBe(deep)
  })

  it('brackets inside strings do not count as nesting', () => {
    const value = { text: `${'['.repeat(100)}\\"${'{'.repeat(100)}` }
    expect(bodyOf(JSON.stringify(value))).toEqual(value)
  })

  it('every JSON value is read back unchanged', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 10 }), value => {
        expect(JSON.stringify(bodyOf(JSON.stringify(value)))).toBe(JSON.stringify(value))
      }),
    )
  })

  it('a "__proto__" key in a response sets no prototype', () => {
    const body = bodyOf('{"__proto__":{"admin":true}}')
    expect((body as { admin?: boolean }).admin).toBeUndefined()
  })
})
