import { type AudioFormat, NARROWBAND, WIDEBAND } from '@parley/kernel'
import { encodePcmu } from '@parley/media'

/** The encoding in which a client requests audio, mono. */
export interface WireEncoding {
  readonly format: AudioFormat
  /** 16-bit little-endian samples; false: mu-law. */
  readonly isLinear: boolean
}

/** The audio of an utterance as it is sent. */
export interface WireAudio {
  readonly bytes: Buffer
  readonly bytesPerMs: number
}

/** 24 kHz linear audio, which some services send whatever is requested. */
export const LINEAR_24_KHZ: WireEncoding = { format: { sampleRateHz: 24_000, channels: 1 }, isLinear: true }

/** Mu-law at 8 kHz or linear audio at 8 or 16 kHz, by the services' own names for them; null: the fakes lack it. */
export function wireEncoding(encoding: unknown, sampleRateHz: unknown): WireEncoding | null {
  const format = [NARROWBAND, WIDEBAND].find(known => known.sampleRateHz === Number(sampleRateHz))
  if (format === undefined) return null
  if (encoding === 'linear16' || encoding === 'pcm_s16le' || encoding === 'pcm') return { format, isLinear: true }
  const isMuLaw = encoding === 'mulaw' || encoding === 'pcm_mulaw' || encoding === 'ulaw'
  return isMuLaw && format === NARROWBAND ? { format, isLinear: false } : null
}

/** Encodes samples in the format of `encoding`. */
export function wireAudio(samples: Int16Array, { format, isLinear }: WireEncoding): WireAudio {
  const bytes = Buffer.alloc(samples.length * (isLinear ? 2 : 1))
  if (isLinear) for (let i = 0; i < samples.length; i++) bytes.writeInt16LE(samples[i]!, 2 * i)
  else encodePcmu(samples, 0, samples.length, bytes, 0)
  return { bytes, bytesPerMs: (format.sampleRateHz / 1000) * (isLinear ? 2 : 1) }
}
