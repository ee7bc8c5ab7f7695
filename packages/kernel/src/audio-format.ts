import type { Ms, Samples } from './units.ts'

export type SampleRateHz = 8000 | 16_000 | 24_000 | 48_000

/** What a piece of 16-bit linear audio is. Plain data: it crosses to other threads. */
export interface AudioFormat {
  readonly sampleRateHz: SampleRateHz
  /** Samples of several channels are interleaved. */
  readonly channels: 1 | 2
}

/** Telephone audio, 300 to 3400 Hz: G.711. */
export const NARROWBAND: AudioFormat = { sampleRateHz: 8000, channels: 1 }

/** Wideband audio, 50 to 7000 Hz: G.722. */
export const WIDEBAND: AudioFormat = { sampleRateHz: 16_000, channels: 1 }

/** Audio is processed in frames of 20 ms. */
export const FRAME_MS: Ms = 20

/** Samples of each channel in `ms` of audio, rounded. */
export function msToSamples(ms: Ms, { sampleRateHz }: AudioFormat): Samples {
  return Math.round(ms * (sampleRateHz / 1000))
}

/** How long `samples` of each channel last. */
export function samplesToMs(samples: Samples, { sampleRateHz }: AudioFormat): Ms {
  return samples / (sampleRateHz / 1000)
}
