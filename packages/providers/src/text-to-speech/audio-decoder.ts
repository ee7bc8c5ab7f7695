import { NARROWBAND } from '@parley/kernel'
import { decodePcmu, ResamplingStream } from '@parley/media'

/** Decodes the bytes of one utterance, split anywhere, to 8 kHz samples. */
export interface AudioDecoder {
  decode(bytes: Uint8Array): Int16Array
  /** The last samples; half a sample at the end is dropped. */
  end(): Int16Array
}

/** G.711 mu-law at 8 kHz. */
export class MuLawDecoder implements AudioDecoder {
  decode(bytes: Uint8Array): Int16Array {
    const samples = new Int16Array(bytes.length)
    decodePcmu(bytes, 0, bytes.length, samples, 0)
    return samples
  }

  end(): Int16Array {
    return new Int16Array(0)
  }
}

/** 16-bit linear, little endian, at `fromHz` (8000 or more). */
export class LinearDecoder implements AudioDecoder {
  readonly #resampling: ResamplingStream
  /** First byte of a sample whose second byte has not arrived. */
  #half: number | null = null

  constructor(fromHz: number) {
    this.#resampling = new ResamplingStream(fromHz, NARROWBAND.sampleRateHz)
  }

  decode(bytes: Uint8Array): Int16Array {
    const whole = this.#half === null ? bytes : Buffer.concat([Uint8Array.of(this.#half), bytes])
    const count = whole.length >> 1
    const view = new DataView(whole.buffer, whole.byteOffset, whole.byteLength)
    const samples = new Int16Array(count)
    for (let i = 0; i < count; i++) samples[i] = view.getInt16(2 * i, true)
    this.#half = whole.length % 2 === 1 ? whole[whole.length - 1]! : null
    return this.#resampling.push(samples)
  }

  end(): Int16Array {
    return this.#resampling.end()
  }
}
