import { randomUint32, SeededRandom } from '@parley/kernel'
import { describe, expect, it } from 'vitest'
import { normalised } from './normalised.ts'
import { VectorIndex } from './vector-index.ts'

/** 0 to 1. */
function uniform(random: SeededRandom): number {
  return randomUint32(random) / 2 ** 32
}

function randomVector(random: SeededRandom, dimension: number): Float32Array {
  return normalised(Float32Array.from({ length: dimension }, () => uniform(random) * 2 - 1))
}

interface Filled {
  readonly index: VectorIndex
  readonly vectors: { readonly document_id: string; readonly chunk_index: number; readonly vector: Float32Array }[]
}

/** Documents of 1 to 7 vectors. */
function filled(random: SeededRandom, dimension: number, documents: number): Filled {
  const index = new VectorIndex(dimension)
  const vectors: Filled['vectors'] = []
  for (let number = 0; number < documents; number++) {
    const rows = 1 + Math.floor(uniform(random) * 7)
    const packed = new Float32Array(rows * dimension)
    for (let row = 0; row < rows; row++) {
      const vector = randomVector(random, dimension)
      packed.set(vector, row * dimension)
      vectors.push({ document_id: `d${number}`, chunk_index: row, vector })
    }
    index.add(`d${number}`, packed)
  }
  return { index, vectors }
}

function exact({ vectors }: Pick<Filled, 'vectors'>, query: Float32Array, atMost: number): string[] {
  const rated = vectors.map(({ document_id, chunk_index, vector }) => {
    let score = 0
    for (let at = 0; at < query.length; at++) score += query[at]! * vector[at]!
    return { place: `${document_id}/${chunk_index}`, score }
  })
  return rated
    .sort((one, other) => other.score - one.score)
    .slice(0, atMost)
    .map(({ place }) => place)
}

const placesOf = (hits: ReturnType<VectorIndex['search']>) => hits.map(hit => `${hit.document_id}/${hit.chunk_index}`)

describe('a vector index', () => {
  it.each([3, 32, 100, 256, 385])('finds what an exact scan of vectors of %d components finds', dimension => {
    const random = new SeededRandom(dimension)
    const all = filled(random, dimension, 400)
    for (let round = 0; round < 20; round++) {
      const query = randomVector(random, dimension)
      expect(placesOf(all.index.search(query, 20))).toEqual(exact(all, query, 20))
    }
  })

  it('a vector index finds the best of vectors that are all alike', () => {
    const random = new SeededRandom(1)
    const base = randomVector(random, 64)
    const index = new VectorIndex(64)
    const vectors: Filled['vectors'] = []
    for (let number = 0; number < 300; number++) {
      const vector = normalised(base.map(value => value + uniform(random) * 1e-3))
      index.add(`d${number}`, vector)
      vectors.push({ document_id: `d${number}`, chunk_index: 0, vector })
    }
    expect(placesOf(index.search(base, 10))).toEqual(exact({ vectors }, base, 10))
  })

  it('a vector index finds more vectors than a block holds, and the scores are cosine similarities', () => {
    const index = new VectorIndex(2)
    const rows = 40_000
    const packed = new Float32Array(rows * 2)
    for (let row = 0; row < rows; row++) {
      const angle = (row / rows) * Math.PI
      packed.set([Math.cos(angle), Math.sin(angle)], row * 2)
    }
    index.add('circle', packed)
    const [hit] = index.search(Float32Array.of(0, 1), 1)
    // Neighbours differ by less than a 32-bit float can tell.
    expect(Math.abs(hit!.chunk_index - 20_000)).toBeLessThan(10)
    expect(hit!.score).toBeCloseTo(1, 6)
    expect(index.search(Float32Array.of(-1, 0), 1)[0]!.chunk_index).toBeGreaterThan(39_990)
  })

  it('a vector index finds vectors of the given documents only', () => {
    const random = new SeededRandom(9)
    const all = filled(random, 16, 300)
    const query = randomVector(random, 16)
    for (const size of [2, 150]) {
      const documents = new Set(Array.from({ length: size }, (_none, number) => `d${number}`))
      const vectors = all.vectors.filter(({ document_id }) => documents.has(document_id))
      expect(placesOf(all.index.search(query, 5, documents))).toEqual(exact({ vectors }, query, 5))
    }
  })

  it('a vector index forgets documents that left, and an added document replaces the one of its id', () => {
    const random = new SeededRandom(4)
    const all = filled(random, 16, 20)
    all.index.retain(new Set(['d1', 'd2']))
    const query = randomVector(random, 16)
    const left = all.vectors.filter(({ document_id }) => document_id === 'd1' || document_id === 'd2')
    expect(placesOf(all.index.search(query, 50))).toEqual(exact({ vectors: left }, query, 50))
    expect(all.index.live).toBe(left.length)
    all.index.add('d1', query)
    expect(all.index.search(query, 1)[0]).toMatchObject({ document_id: 'd1', chunk_index: 0 })
    expect(all.index.scoreOf(query, 'd1', 0)).toBeCloseTo(1, 5)
    expect(all.index.scoreOf(query, 'd1', 1)).toBeNull()
    expect(all.index.scoreOf(query, 'd3', 0)).toBeNull()
  })
})
