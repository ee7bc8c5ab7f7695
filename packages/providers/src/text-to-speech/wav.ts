export type WavReading =
  | { readonly ok: true; readonly sampleRateHz: number; readonly samples: Int16Array }
  | { readonly ok: false; readonly detail: string }

const MAX_CHUNKS = 64

/**
 * Reads mono 16-bit PCM out of a RIFF/WAVE file. Never throws. A `data` chunk that claims more than is there, as
 * programs write that stream to a pipe, is read to the end of the bytes.
 */
export function readWav(bytes: Uint8Array): WavReading {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (bytes.length < 12 || tag(view, 0) !== 'RIFF' || tag(view, 8) !== 'WAVE') return bad('it is not RIFF/WAVE')
  let sampleRateHz: number | null = null
  let at = 12
  for (let count = 0; count < MAX_CHUNKS && at + 8 <= bytes.length; count++) {
    const id = tag(view, at)
    const size = view.getUint32(at + 4, true)
    const start = at + 8
    if (id === 'fmt ') {
      if (size < 16 || start + 16 > bytes.length) return bad('its format chunk is too short')
      const [format, channels, bits] = [0, 2, 14].map(offset => view.getUint16(start + offset, true))
      if (format !== 1 || channels !== 1 || bits !== 16) return bad('it is not mono 16-bit PCM')
      sampleRateHz = view.getUint32(start + 4, true)
    } else if (id === 'data') {
      if (sampleRateHz === null) return bad('its data comes before its format')
      if (sampleRateHz < 8000 || sampleRateHz > 48_000) return bad(`its sample rate is ${sampleRateHz} Hz`)
      return { ok: true, sampleRateHz, samples: pcm(view, start, Math.min(size, bytes.length - start)) }
    }
    // Chunks are padded to even lengths.
    at = start + size + (size % 2)
  }
  return bad('it has no data chunk')
}

function pcm(view: DataView, start: number, length: number): Int16Array {
  const samples = new Int16Array(Math.floor(length / 2))
  for (let i = 0; i < samples.length; i++) samples[i] = view.getInt16(start + 2 * i, true)
  return samples
}

function tag(view: DataView, at: number): string {
  return String.fromCharCode(...[0, 1, 2, 3].map(i => view.getUint8(at + i)))
}

function bad(detail: string): WavReading {
  return { ok: false, detail }
}
