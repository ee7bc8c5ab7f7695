import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sentences } from './sentences.ts'

describe('a text that is split for speech', () => {
  it('a text that is split for speech is split after sentences, then after commas, then between words', () => {
    expect(sentences('Hello!  How are you? I am "fine." Bye', 40)).toEqual([
      'Hello!',
      'How are you?',
      'I am "fine."',
      'Bye',
    ])
    expect(sentences('one two, three four five', 15)).toEqual(['one two,', 'three four five'])
    expect(sentences('one two three', 9)).toEqual(['one two', 'three'])
    expect(sentences('It costs 3.50 at example.com today.', 60)).toEqual(['It costs 3.50 at example.com today.'])
  })

  it('a text that is split for speech keeps all its characters, in pieces of at most the maximum length', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), fc.integer({ min: 4, max: 80 }), (text, most) => {
        const pieces = sentences(text, most)
        for (const piece of pieces) {
          expect(piece.length).toBeLessThanOrEqual(most)
          expect(piece).not.toBe('')
          expect(piece.isWellFormed()).toBe(true)
        }
        expect(pieces.join('').replace(/\s/g, '')).toBe(text.replace(/\s/g, ''))
      }),
    )
  })
})
