import { randomUint32, SeededRandom } from '@parley/kernel'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { pieceOfBits, wordBits } from './word-code.ts'
import { FRAME_SIZES, FrameReader, framesOfWord } from './word-frame.ts'

/** Decodes the symbols with all frame sizes, smallest first. */
function read(symbols: Float32Array): string | null {
  const reader = new FrameReader()
  for (const size of FRAME_SIZES) {
    if (2 * size.symbols > symbols.length) break
    const piece = reader.read(symbols.slice(0, 2 * size.symbols), size)
    if (piece !== null) return piece.text
  }
  return null
}

/** Rotates and scales the symbols, and replaces `count` of them from `from` on by noise. */
function disturb(symbols: Float32Array, angle: number, scale: number, from: number, count: number): Float32Array {
  const random = new SeededRandom(7)
  const out = new Float32Array(symbols.length)
  for (let i = 0; i < symbols.length; i += 2) {
    const lost = i / 2 >= from && i / 2 < from + count
    const phase = (randomUint32(random) / 2 ** 32) * 2 * Math.PI
    const [re, im] = lost ? [Math.cos(phase), Math.sin(phase)] : [symbols[i]!, symbols[i + 1]!]
    out[i] = scale * (re * Math.cos(angle) - im * Math.sin(angle))
    out[i + 1] = scale * (re * Math.sin(angle) + im * Math.cos(angle))
  }
  return out
}

describe('a word coded as bits', () => {
  it('a word coded as bits is decoded to the same word, in one frame or several', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }), word => {
        fc.pre(word.isWellFormed())
        const pieces = wordBits(word, 120).map(bits => pieceOfBits(Uint8Array.from(bits), bits.length))
        expect(pieces.map(piece => piece?.text).join('')).toBe(word)
        expect(pieces.map(piece => piece?.goesOn)).toEqual(pieces.map((_, i) => i < pieces.length - 1))
        expect(pieces.map(piece => piece?.continues)).toEqual(pieces.map((_, i) => i > 0))
      }),
    )
  })

  it('a word coded as bits is not decoded from arbitrary bits as an empty word, and arbitrary bits cause no exception', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 120, max: 1 }), bits => {
        const piece = pieceOfBits(bits, bits.length)
        if (piece !== null) expect(piece.text.length).toBeGreaterThan(0)
      }),
    )
  })
})

describe('a word coded as symbols', () => {
  it('a word coded as symbols survives one lost packet at any position, whatever the phase and level of the line', () => {
    for (const word of ['a', 'and', 'Garden,', 'señora', 'neighbourhood.', '1,250']) {
      const [symbols] = framesOfWord(word)
      // 20 ms are 8 symbols; the pulses of two more reach into them.
      for (let from = -5; 2 * from < symbols!.length; from += 3) {
        expect(read(disturb(symbols!, from, 10 ** (from % 4), from, 10))).toBe(word)
      }
    }
  })

  it('a word coded as symbols is dropped, never decoded as another word, when most of it is lost', () => {
    for (const word of ['a', 'and', 'Garden,', 'neighbourhood.']) {
      const [symbols] = framesOfWord(word)
      const length = symbols!.length / 2
      for (let from = 0; from < length / 4; from += 4) {
        expect(read(disturb(symbols!, 1, 1, from, 0.75 * length))).toBe(null)
      }
    }
  })
})
