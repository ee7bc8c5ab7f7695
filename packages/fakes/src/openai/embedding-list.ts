import type { FakeModelAnswer } from '../models/model-dialect.ts'
import type { FakeStreamStyle } from '../models/model-step.ts'

/** How the service answers. The defaults are OpenAI's. */
export interface FakeEmbeddingStyle extends FakeStreamStyle {
  /** Vectors are not in the order of the texts, but have its index. */
  readonly shuffled?: boolean
  /** Vectors as numbers even when the request asks for base64. */
  readonly alwaysNumbers?: boolean
  readonly withoutIndexes?: boolean
  /** Length of each vector. Default 8; a request may set another. */
  readonly dimensions?: number
  /** One vector is missing. */
  readonly lacksOne?: boolean
  /** The first index is repeated. */
  readonly repeatsOne?: boolean
  /** A member of a vector is null. */
  readonly writesNulls?: boolean
  /** The last vector is shorter than the others. */
  readonly uneven?: boolean
}

type JsonObject = Readonly<Record<string, unknown>>

/** The answer of `/v1/embeddings`: one document. Equal texts have equal vectors. */
export class EmbeddingList implements FakeModelAnswer {
  readonly isFinished = true
  readonly #style: FakeEmbeddingStyle
  readonly #body: JsonObject

  constructor(style: FakeEmbeddingStyle, body: JsonObject) {
    this.#style = style
    this.#body = body
  }

  lines(): string {
    return ''
  }

  done(): string {
    return ''
  }

  document(): string {
    const { shuffled, lacksOne, repeatsOne } = this.#style
    const data = (this.#body.input as string[]).map((text, index, all) => this.#item(text, index, all.length))
    if (shuffled === true) data.reverse()
    if (lacksOne === true) data.pop()
    if (repeatsOne === true) data[data.length - 1] = data[0]!
    const usage = { prompt_tokens: data.length, total_tokens: data.length }
    return JSON.stringify({ object: 'list', data, model: this.#body.model, usage })
  }

  #item(text: string, index: number, count: number): object {
    const { withoutIndexes, alwaysNumbers, writesNulls, uneven } = this.#style
    const dimensions = Number(this.#body.dimensions ?? this.#style.dimensions ?? 8)
    const vector = vectorOf(text, uneven === true && index === count - 1 ? dimensions - 1 : dimensions)
    const inNumbers = alwaysNumbers === true || this.#body.encoding_format !== 'base64'
    const numbers = writesNulls === true ? [null, ...[...vector].slice(1)] : [...vector]
    const embedding = inNumbers ? numbers : Buffer.from(vector.buffer).toString('base64')
    return { object: 'embedding', ...(withoutIndexes !== true && { index }), embedding }
  }
}

/** A unit vector that differs between texts and has no relation to their meaning. */
function vectorOf(text: string, dimensions: number): Float32Array {
  const vector = new Float32Array(dimensions)
  let state = 2_166_136_261
  for (const character of text) state = Math.imul(state ^ character.codePointAt(0)!, 16_777_619) >>> 0
  for (let i = 0; i < dimensions; i++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    vector[i] = state / 2 ** 31 - 1
  }
  const length = Math.hypot(...vector)
  return vector.map(value => value / length)
}
