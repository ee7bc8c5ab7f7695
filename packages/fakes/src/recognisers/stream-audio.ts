import type { Ms } from '@parley/kernel'
import { decodePcmu, ResamplingStream } from '@parley/media'

const ANALYSIS_HZ = 8000

/** The audio that the query of a connection announces: mu-law or 16-bit little-endian linear samples, mono. */
export class StreamAudio {
  readonly #isLinear: boolean
  readonly #sampleRateHz: number
  readonly #resampling: ResamplingStream | null

  /** All services name the parameters `encoding` and `sample_rate`. */
  constructor(query: URLSearchParams) {
    this.#isLinear = /^(linear16|pcm_s16le)$/.test(query.get('encoding') ?? '')
    this.#sampleRateHz = Number(query.get('sample_rate') ?? ANALYSIS_HZ)
    this.#resampling = this.#sampleRateHz > ANALYSIS_HZ ? new ResamplingStream(this.#sampleRateHz, ANALYSIS_HZ) : null
  }

  durationMs(byteLength: number): Ms {
    return (byteLength / (this.#isLinear ? 2 : 1) / this.#sampleRateHz) * 1000
  }

  /** The next samples of the stream at 8 kHz, as a `WordRecogniser` needs them. */
  decode(bytes: Uint8Array): Int16Array {
    const samples = this.#isLinear ? linearSamples(bytes) : muLawSamples(bytes)
    return this.#resampling === null ? samples : this.#resampling.push(samples)
  }
}

function muLawSamples(bytes: Uint8Array): Int16Array {
  const samples = new Int16Array(bytes.length)
  decodePcmu(bytes, 0, bytes.length, samples, 0)
  return samples
}

function linearSamples(bytes: Uint8Array): Int16Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  return Int16Array.from({ length: bytes.length >> 1 }, (_, i) => view.getInt16(2 * i, true))
}
