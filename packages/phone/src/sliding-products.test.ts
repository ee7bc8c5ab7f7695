import { describe, expect, it } from 'vitest'
import { slidingProducts } from './sliding-products.ts'

function noise(seed: number, count: number): Float32Array {
  let state = seed
  return Float32Array.from({ length: count }, () => {
    state = (state * 1103515245 + 12345) & 0x7fffffff
    return (state >> 8) / 4_194_304 - 1
  })
}

function productAt(piece: Float32Array, within: Float32Array, at: number): number {
  return piece.reduce((sum, value, i) => sum + value * within[at + i]!, 0)
}

describe('sums of products of a piece with a signal at every position', () => {
  it.each([1000, 8192, 20_001])('they equal the sums by hand in a signal of %i samples, across its blocks', length => {
    const within = noise(1, length)
    const pieces = [noise(2, 1000), noise(3, 700), noise(4, 900)]
    const products = slidingProducts(pieces, within)
    for (const [i, piece] of pieces.entries()) {
      expect(products[i]).toHaveLength(length - piece.length + 1)
      for (let at = 0; at < products[i]!.length; at += 97) {
        expect(products[i]![at]).toBeCloseTo(productAt(piece, within, at), 8)
      }
      const last = length - piece.length
      expect(products[i]![last]).toBeCloseTo(productAt(piece, within, last), 8)
    }
  })

  it('a piece that is longer than the signal has no position, and one that is too long for a transform is refused', () => {
    expect(slidingProducts([noise(1, 500)], noise(2, 499))).toEqual([new Float64Array(0)])
    expect(() => slidingProducts([noise(1, 4097)], noise(2, 9000))).toThrow('a piece has 4097 samples')
  })
})
