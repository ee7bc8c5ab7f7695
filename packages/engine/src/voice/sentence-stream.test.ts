import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SentenceStream } from './sentence-stream.ts'

function cut(text: string, size = 3): string[] {
  const stream = new SentenceStream()
  const out: string[] = []
  for (let at = 0; at < text.length; at += size) out.push(...stream.push(text.slice(at, at + size)))
  const rest = stream.flush()
  return rest === null ? out : [...out, rest]
}

describe('splitting streamed text into sentences', () => {
  it.each([
    ['Hello there. How are you?', ['Hello there.', 'How are you?']],
    ['Dr. Smith is in. Really!', ['Dr. Smith is in.', 'Really!']],
    ['It costs 3.50 today. Fine.', ['It costs 3.50 today.', 'Fine.']],
    ['¿Qué desea? Una pizza.', ['¿Qué desea?', 'Una pizza.']],
    ['He said "stop." Then left.', ['He said "stop."', 'Then left.']],
    ['No end', ['No end']],
    ['  ', []],
  ])('splitting streamed text into sentences is the same for any chunk size: "%s"', (text, sentences) => {
    for (const size of [1, 3, 100]) expect(cut(text, size)).toEqual(sentences)
  })

  it('splitting streamed text into sentences cuts a very long sentence at a comma', () => {
    const pieces = cut(`${'word '.repeat(30)}, ${'more '.repeat(40)}`)
    expect(pieces.length).toBeGreaterThan(1)
    expect(Math.max(...pieces.map(piece => piece.length))).toBeLessThanOrEqual(240)
  })

  it('splitting streamed text into sentences loses only white space, for any chunk size', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 600 }), fc.integer({ min: 1, max: 50 }), (text, size) => {
        expect(cut(text, size).join('').replace(/\s/g, '')).toBe(text.replace(/\s/g, ''))
      }),
    )
  })
})
