import { describe, expect, it } from 'vitest'
import { findPattern } from './heard-pattern.ts'

const heard = ['Your', 'order-number', 'is', '12;', 'thank', 'you.', '¿Está', 'bien?']

describe('looking for what was said', () => {
  it.each([
    ['Order', { from: 1, to: 2 }],
    ['number is 12 thank', { from: 1, to: 5 }],
    ['THANK YOU!', { from: 4, to: 6 }],
    ['está bien', { from: 6, to: 8 }],
    ['numb', null],
    ['you thank', null],
    ['bien gracias', null],
  ])('finds whole words, whatever their capitals and marks: %s', (pattern, range) => {
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
  ])('finds an expression in the words together: %s', (pattern, range) => {
    expect(findPattern(pattern, heard)).toEqual(range)
  })

  it('finds it again with an expression that remembers where it was', () => {
    const global = /you/gi
    expect([findPattern(global, heard), findPattern(global, heard)]).toEqual([
      { from: 0, to: 1 },
      { from: 0, to: 1 },
    ])
  })

  it('refuses words that cannot be heard', () => {
    expect(() => findPattern(' … ', heard)).toThrow(expect.objectContaining({ code: 'bad_pattern' }))
    expect(findPattern('x', [])).toBeNull()
  })
})
