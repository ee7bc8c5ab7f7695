import type { SampleRateHz } from '@parley/kernel'

/** RIFF + WAVE, "fmt " of 18 bytes (with its extension size, as formats other than PCM need), "fact", "data". */
export const WAV_HEADER_BYTES = 58

const FORMAT_MU_LAW = 7
const CHANNELS = 2
/** The sizes are 32-bit: a recording longer than 74 hours (37 at 16 kHz) keeps its data and understates its length. */
const MAX_DATA_BYTES = 0xffff_ffff - WAV_HEADER_BYTES

/** Header of a two-channel mu-law WAV of `frames` frames, at the start of `dst`; returns its length of 58 bytes. */
export function writeWavHeader(dst: Uint8Array, frames: number, sampleRateHz: SampleRateHz): number {
  const dataBytes = Math.min(frames * CHANNELS, MAX_DATA_BYTES)
  const view = new DataView(dst.buffer, dst.byteOffset, WAV_HEADER_BYTES)
  tag(view, 0, 'RIFF')
  view.setUint32(4, WAV_HEADER_BYTES - 8 + dataBytes, true)
  tag(view, 8, 'WAVE')
  tag(view, 12, 'fmt ')
  view.setUint32(16, 18, true)
  view.setUint16(20, FORMAT_MU_LAW, true)
  view.setUint16(22, CHANNELS, true)
  view.setUint32(24, sampleRateHz, true)
  view.setUint32(28, sampleRateHz * CHANNELS, true)
  view.setUint16(32, CHANNELS, true)
  view.setUint16(34, 8, true)
  view.setUint16(36, 0, true)
  tag(view, 38, 'fact')
  view.setUint32(42, 4, true)
  view.setUint32(46, Math.floor(dataBytes / CHANNELS), true)
  tag(view, 50, 'data')
  view.setUint32(54, dataBytes, true)
  return WAV_HEADER_BYTES
}

function tag(view: DataView, offset: number, name: string): void {
  for (let i = 0; i < 4; i++) view.setUint8(offset + i, name.charCodeAt(i))
}
