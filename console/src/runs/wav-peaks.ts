/** The form of the audio in a WAV file. */
interface WavAudio {
  /** 1: PCM of 16 bits, 7: mu-law (RFC 3551, 4.5.14). */
  readonly format: 1 | 7
  readonly channels: number
  readonly sampleRate: number
  /** Bytes of one sample of one channel. */
  readonly sampleBytes: number
  /** Where the samples begin and end in the file, in bytes. */
  readonly from: number
  readonly to: number
}

export interface WavPeaks {
  readonly durationMs: number
  /** Of each channel, the loudest sample of each part: 0 to 1. */
  readonly channels: readonly Float32Array[]
}

/**
 * The loudest samples of each of `parts` parts of a WAV file, channel by channel, without decoding the whole file into memory.
 * Null: not a WAV file of PCM or mu-law.
 */
export function wavPeaks(file: Uint8Array, parts: number): WavPeaks | null {
  const audio = wavAudio(file)
  if (audio === null) return null
  const { channels, sampleBytes, from, to, sampleRate } = audio
  const frameBytes = channels * sampleBytes
  const frames = Math.floor((to - from) / frameBytes)
  const count = Math.max(1, Math.min(parts, frames))
  const peaks = Array.from({ length: channels }, () => new Float32Array(count))
  const loudness = audio.format === 7 ? muLawLoudness() : null
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength)
  for (let part = 0; part < count; part++) {
    const last = Math.floor(((part + 1) * frames) / count)
    for (let frame = Math.floor((part * frames) / count); frame < last; frame++) {
      for (let channel = 0; channel < channels; channel++) {
        const at = from + frame * frameBytes + channel * sampleBytes
        const value = loudness === null ? Math.abs(view.getInt16(at, true)) / 32_768 : loudness[file[at]!]!
        if (value > peaks[channel]![part]!) peaks[channel]![part] = value
      }
    }
  }
  return { durationMs: (frames / sampleRate) * 1000, channels: peaks }
}

function wavAudio(file: Uint8Array): WavAudio | null {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength)
  const name = (at: number) => String.fromCharCode(...file.subarray(at, at + 4))
  if (file.length < 12 || name(0) !== 'RIFF' || name(8) !== 'WAVE') return null
  let form: Omit<WavAudio, 'from' | 'to'> | null = null
  for (let at = 12; at + 8 <= file.length; ) {
    const size = view.getUint32(at + 4, true)
    if (name(at) === 'fmt ' && size >= 16 && at + 24 <= file.length) {
      const format = view.getUint16(at + 8, true)
      const bits = view.getUint16(at + 22, true)
      if (!((format === 1 && bits === 16) || (format === 7 && bits === 8))) return null
      const channels = view.getUint16(at + 10, true)
      if (channels < 1 || channels > 8) return null
      form = { format, channels, sampleRate: view.getUint32(at + 12, true) || 8000, sampleBytes: bits / 8 }
    }
    if (name(at) === 'data')
      return form === null ? null : { ...form, from: at + 8, to: Math.min(file.length, at + 8 + size) }
    at += 8 + size + (size % 2)
  }
  return null
}

/** The loudness of each mu-law byte, 0 to 1. */
function muLawLoudness(): Float32Array {
  return Float32Array.from({ length: 256 }, (_, byte) => {
    const inverted = ~byte & 0xff
    const magnitude = (((inverted & 0x0f) << 3) + 0x84) << ((inverted & 0x70) >> 4)
    return (magnitude - 0x84) / 32_768
  })
}
