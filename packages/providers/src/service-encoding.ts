import { type AudioFormat, NARROWBAND, WIDEBAND } from '@parley/kernel'
import { encodePcmu } from '@parley/media'

/** How services receive and send audio: raw bytes without a header, mono. */
export interface ServiceEncoding {
  readonly format: AudioFormat
  readonly kind: 'mu-law' | 'linear'
  readonly bytesPerSample: 1 | 2
  /** Every byte of silence. */
  readonly silence: number
  /** Encodes `count` samples from index `start` on, to the beginning of `into`. */
  encode(samples: Int16Array, start: number, count: number, into: Uint8Array): void
}

/** Formats of every service that uses `encodingFor`: G.711 mu-law for telephone calls, linear PCM for wideband calls. */
export const SERVICE_FORMATS: readonly AudioFormat[] = [NARROWBAND, WIDEBAND]

/** Mu-law at 8 kHz, which needs half the bytes of linear PCM and loses nothing of a G.711 call; 16-bit little-endian at other rates. */
export function encodingFor(format: AudioFormat = NARROWBAND): ServiceEncoding {
  return format.sampleRateHz === NARROWBAND.sampleRateHz ? MU_LAW : { ...LINEAR, format }
}

const MU_LAW: ServiceEncoding = {
  format: NARROWBAND,
  kind: 'mu-law',
  bytesPerSample: 1,
  silence: 0xff,
  encode: (samples, start, count, into) => encodePcmu(samples, start, count, into, 0),
}

const LINEAR: Omit<ServiceEncoding, 'format'> = {
  kind: 'linear',
  bytesPerSample: 2,
  silence: 0,
  encode: (samples, start, count, into) => {
    const view = new DataView(into.buffer, into.byteOffset, 2 * count)
    for (let i = 0; i < count; i++) view.setInt16(2 * i, samples[start + i]!, true)
  },
}
