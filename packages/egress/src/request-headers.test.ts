import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { requestHeaders } from './request-headers.ts'

describe('request headers', () => {
  it('request headers are sent unchanged, one of each name', () => {
    expect(requestHeaders({ 'X-A': ' 1 ', 'x-a': '2', 'User-Agent': 'mine' })).toEqual({
      'x-a': '2',
      'user-agent': 'mine',
      'accept-encoding': 'identity',
    })
  })

  it('request headers encode text beyond ASCII as UTF-8', () => {
    const value = requestHeaders({ 'x-name': 'José 🌍' })['x-name']!
    expect(Buffer.from(value, 'latin1').toString('utf8')).toBe('José 🌍')
  })

  it('request headers are limited in number and length, and never contain a line break', () => {
    const text = fc.array(fc.integer({ min: 0, max: 0xffff })).map(units => String.fromCharCode(...units))
    const headers = fc.dictionary(fc.string(), text)
    fc.assert(
      fc.property(headers, given =>
        Object.entries(requestHeaders(given)).every(
          ([name, value]) => /^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name) && /^[\t\x20-\x7e\x80-\xff]*$/.test(value),
        ),
      ),
    )
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`x-${n}`, 'a'.repeat(20_000)]))
    const sent = Object.values(requestHeaders(many))
    expect(sent.length).toBeLessThanOrEqual(101)
    expect(Math.max(...sent.map(value => value.length))).toBe(16_384)
  })
})
