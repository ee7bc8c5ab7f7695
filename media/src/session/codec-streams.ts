import { type AudioFormat, type Ms, msToSamples, type Samples } from '@parley/kernel'
import type { AudioCodec, AudioDecoder, AudioEncoder } from '../codec/audio-codec.ts'
import { PCMA, PCMU } from '../codec/g711.ts'
import { type G711Law, MAX_PACKET_MS, type PayloadDecoder } from '../dsp/reorder-buffer.ts'
import { Resampler } from '../dsp/resampler.ts'

/** Which G.711 a codec is. */
function lawOf(codec: AudioCodec): G711Law {
  return codec === PCMU ? 1 : codec === PCMA ? 2 : 0
}

/** Which G.711 a codec is where its audio has the session's rate. */
export function lawIn(codec: AudioCodec, format: AudioFormat): G711Law {
  return codec.format.sampleRateHz === format.sampleRateHz ? lawOf(codec) : 0
}

/** Longest packet that is sent. */
const MAX_SENT_MS: Ms = 60

/** The receiving direction of a codec: payloads become audio of the session's format. */
export class DecodingStream implements PayloadDecoder {
  samples: Int16Array
  readonly clockRate: number
  readonly law: G711Law
  readonly #codec: AudioCodec
  readonly #resampler: Resampler | null
  #decoded: Int16Array
  #decoder: AudioDecoder
  /** Samples of the last packet, at the codec's rate. */
  #last: Samples = 0

  constructor(codec: AudioCodec, format: AudioFormat) {
    const { sampleRateHz } = codec.format
    const longest = msToSamples(MAX_PACKET_MS, codec.format)
    const isSame = sampleRateHz === format.sampleRateHz
    this.#codec = codec
    this.clockRate = codec.clockRate
    this.law = lawIn(codec, format)
    this.#decoder = codec.createDecoder()
    // A byte of G.711 is a sample, so that its memory grows with its packets.
    this.#decoded = new Int16Array(this.law === 0 ? longest : 0)
    this.#resampler = isSame ? null : new Resampler(sampleRateHz, format.sampleRateHz, longest)
    this.samples = isSame ? this.#decoded : new Int16Array(msToSamples(MAX_PACKET_MS, format) + 1)
  }

  decode(payload: Uint8Array, offset: number, length: number): Samples {
    if (this.law !== 0 && this.#decoded.length < length) {
      this.#decoded = new Int16Array(length)
      this.samples = this.#decoded
    }
    this.#last = this.#decoder.decode(payload, offset, length, this.#decoded, 0)
    return this.#resampled(this.#last)
  }

  recover(payload: Uint8Array, offset: number, length: number): Samples {
    if (this.#last === 0) return 0
    return this.#resampled(this.#decoder.recover?.(payload, offset, length, this.#decoded, 0, this.#last) ?? 0)
  }

  restart(): void {
    this.#decoder = this.#codec.createDecoder()
    this.#resampler?.reset()
    this.#last = 0
  }

  #resampled(count: Samples): Samples {
    return this.#resampler === null ? count : this.#resampler.process(this.#decoded, 0, count, this.samples, 0)
  }
}

/** The sending direction: audio of the session's format becomes payloads. */
export class EncodingStream {
  readonly codec: AudioCodec
  readonly peerFmtp: string | null
  /** Which G.711 it encodes, at the rate of the session. */
  readonly law: G711Law
  readonly #encoder: AudioEncoder
  readonly #resampler: Resampler | null
  readonly #resampled: Int16Array

  /** `peerFmtp`: format parameters of the peer; null without. */
  constructor(codec: AudioCodec, format: AudioFormat, peerFmtp: string | null = null) {
    const { sampleRateHz } = codec.format
    const isSame = sampleRateHz === format.sampleRateHz
    this.codec = codec
    this.peerFmtp = peerFmtp
    this.law = isSame ? lawOf(codec) : 0
    this.#encoder = codec.createEncoder(peerFmtp)
    const longest = msToSamples(MAX_SENT_MS, format)
    this.#resampler = isSame ? null : new Resampler(format.sampleRateHz, sampleRateHz, longest)
    this.#resampled = new Int16Array(isSame ? 0 : msToSamples(MAX_SENT_MS, codec.format) + 1)
  }

  /** Encodes the first `count` samples to `dst`; returns how many bytes. 0: no packet. `isSilence`: nothing plays. */
  encode(samples: Int16Array, count: Samples, dst: Uint8Array, dstOffset: number, isSilence: boolean): number {
    if (this.#resampler === null) return this.#encoder.encode(samples, 0, count, dst, dstOffset, isSilence)
    const resampled = this.#resampler.process(samples, 0, count, this.#resampled, 0)
    return this.#encoder.encode(this.#resampled, 0, resampled, dst, dstOffset, isSilence)
  }

  /** The peer reports that this share of the packets is lost on their way to it. */
  reportLoss(share: number): void {
    this.#encoder.reportLoss?.(share)
  }
}
