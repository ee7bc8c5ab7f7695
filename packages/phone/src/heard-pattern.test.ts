import { describe, expect, it } from 'vitest'
import { findPattern } from './heard-pattern.ts'

const heard = ['Your', 'order-number', 'is', '12;', 'thank', 'you.', '¿Está', 'bien?']

describe('matching a pattern against heard words', () => {
  it.each([
    ['Order', { from: 1, to: 2 }],
    ['number is 12 thank', { from: 1, to: 5 }],
    ['THANK YOU!', { from: 4, to: 6 }],
    ['está bien', { from: 6, to: 8 }],
    ['numb', null],
    ['you thank', null],
    ['bien gracias', null],
  ])('a string pattern matches whole words, ignoring case and punctuation: %s', (pattern, range) => {
    expect(findPattern(pattern, heard)).toEqual(range)
  })

  it.each([
    [/is \d+/, { from: 2, to: 4 }],
    [/NUMB/i, { from: 1, to: 2 }],
    [/NUMB/, null],
    [/^Your/, { from: 0, to: 1 }],
    [/bien\?$/, { from: 7, to: 8 }],
    [/\s+thank/, { from: 4, to: 5 }],
    [/x*/, null],
  ])('a regular expression matches in the words joined by spaces: %s', (pattern, range) => {
    expect(findPattern(pattern, heard)).toEqual(range)
  })

  it('a regular expression with the flag g matches from the beginning every time', () => {
    const global = /you/gi
    expect([findPattern(global, heard), findPattern(global, heard)]).toEqual([
      { from: 0, to: 1 },
      { from: 0, to: 1 },
    ])
  })

  it('a string pattern without letters or digits is refused as bad_pattern', () => {
    expect(() => findPattern(' … ', heard)).toThrow(expect.objectContaining({ code: 'bad_pattern' }))
    expect(findPattern('x', [])).toBeNull()
  })
})
