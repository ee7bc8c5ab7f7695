import { type AudioFormat, NARROWBAND, type Samples } from '@parley/kernel'
import { decodePcmu, ResamplingStream } from '@parley/media'
import { encodingFor } from '../service-encoding.ts'

/** Decodes the bytes of one utterance, split anywhere, to mono samples of `format`. */
export interface AudioDecoder {
  readonly format: AudioFormat
  decode(bytes: Uint8Array): Int16Array
  /** The last samples; half a sample at the end is dropped. */
  end(): Int16Array
}

/** The decoder for audio that a service sends in the encoding of `encodingFor(format)`. */
export function decoderFor(format: AudioFormat = NARROWBAND): AudioDecoder {
  return encodingFor(format).kind === 'mu-law' ? new MuLawDecoder() : new LinearDecoder(format.sampleRateHz, format)
}

/** G.711 mu-law at 8 kHz. */
export class MuLawDecoder implements AudioDecoder {
  readonly format = NARROWBAND

  decode(bytes: Uint8Array): Int16Array {
    const samples = new Int16Array(bytes.length)
    decodePcmu(bytes, 0, bytes.length, samples, 0)
    return samples
  }

  end(): Int16Array {
    return new Int16Array(0)
  }
}

/** 16-bit linear, little endian, at `fromHz`, resampled to `format`. */
export class LinearDecoder implements AudioDecoder {
  readonly format: AudioFormat
  readonly #resampling: ResamplingStream | null
  /** First byte of a sample whose second byte has not arrived. */
  #half: number | null = null

  constructor(fromHz: number, format: AudioFormat) {
    this.format = format
    this.#resampling = fromHz === format.sampleRateHz ? null : new ResamplingStream(fromHz, format.sampleRateHz)
  }

  decode(bytes: Uint8Array): Int16Array {
    const whole = this.#half === null ? bytes : Buffer.concat([Uint8Array.of(this.#half), bytes])
    const count: Samples = whole.length >> 1
    const view = new DataView(whole.buffer, whole.byteOffset, whole.byteLength)
    const samples = new Int16Array(count)
    for (let i = 0; i < count; i++) samples[i] = view.getInt16(2 * i, true)
    this.#half = whole.length % 2 === 1 ? whole[whole.length - 1]! : null
    return this.#resampling?.push(samples) ?? samples
  }

  end(): Int16Array {
    return this.#resampling?.end() ?? new Int16Array(0)
  }
}
