import { ProviderError, type ProviderFailure } from '../errors.ts'
import { isObject, type JsonObject } from '../json-object.ts'
import type { ModelAnswer } from '../model-service/model-answer.ts'
import { failureInAnswer } from '../model-service/model-failure.ts'

/** The vector of the requested text with this index. */
interface IndexedVector {
  readonly index: number
  readonly vector: Float32Array
}

const MAX_DIMENSIONS = 16_384
const BYTES = Float32Array.BYTES_PER_ELEMENT

/** The answer of `/embeddings` for `count` texts: a vector for each, as numbers or as base64 of little-endian floats. */
export class EmbeddingAnswer implements ModelAnswer<IndexedVector> {
  readonly progress = 0
  readonly #count: number
  #finished = false

  constructor(count: number) {
    this.#count = count
  }

  get isFinished(): boolean {
    return this.#finished
  }

  get isComplete(): boolean {
    return this.#finished
  }

  data(): never {
    throw malformed('it is a stream')
  }

  chunk(chunk: JsonObject): IndexedVector[] {
    if (chunk.error !== undefined && chunk.error !== null) throw failureInAnswer(chunk)
    const items = Array.isArray(chunk.data) ? chunk.data.filter(isObject) : []
    if (items.length !== this.#count) throw malformed('vectors are missing')
    const vectors = items.map((item, place) => ({ index: indexOf(item, place), vector: vectorIn(item.embedding) }))
    const indexes = new Set(vectors.map(({ index }) => index))
    if (indexes.size < this.#count || vectors.some(({ index }) => index >= this.#count))
      throw malformed('it lacks the indexes of its vectors')
    if (vectors.some(({ vector }) => vector.length !== vectors[0]!.vector.length))
      throw malformed('its vectors have different lengths')
    this.#finished = true
    return vectors
  }

  end(): IndexedVector[] {
    if (this.#finished) return []
    throw new ProviderError('model_unreachable', "The model's answer broke off.")
  }

  abandoned(): IndexedVector[] {
    return []
  }
}

/** Without indexes, vectors are in the order of the texts. */
function indexOf({ index }: JsonObject, place: number): number {
  if (index === undefined) return place
  if (typeof index !== 'number' || !Number.isSafeInteger(index) || index < 0) throw malformed('an index is no number')
  return index
}

function vectorIn(embedding: unknown): Float32Array {
  const vector = typeof embedding === 'string' ? decoded(embedding) : listed(embedding)
  if (vector.length === 0 || vector.length > MAX_DIMENSIONS) throw malformed('a vector is empty or far too long')
  if (!vector.every(Number.isFinite)) throw malformed('a vector has members that are no numbers')
  return vector
}

function listed(embedding: unknown): Float32Array {
  if (!Array.isArray(embedding)) throw malformed('a vector is not a list of numbers')
  return Float32Array.from(embedding, (value: unknown) => (typeof value === 'number' ? value : Number.NaN))
}

function decoded(text: string): Float32Array {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length % BYTES !== 0) throw malformed('a vector ends inside a number')
  return Float32Array.from({ length: bytes.length / BYTES }, (_value, at) => bytes.readFloatLE(at * BYTES))
}

function malformed(what: string): ProviderFailure {
  return new ProviderError('model_failed', `The answer with vectors is malformed: ${what}.`)
}
