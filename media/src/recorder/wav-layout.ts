import { readRiffChunks, riffTagAt, viewOf } from './riff-chunks.ts'

const MU_LAW = 7
const MU_LAW_SILENCE = 0xff
const MAX_DATA_BYTES = 0xffff_ffff

/** The layout of a mu-law recording, read from the first bytes of one of its files. */
export interface WavLayout {
  /** All bytes before the audio; its size fields are those of the file it was read from. */
  readonly header: Uint8Array
  /** Bytes of one sample of all channels. */
  readonly frameBytes: number
  readonly framesPerSecond: number
  /** The byte that encodes silence. */
  readonly silence: number
}

/** Null when `bytes` do not begin a mu-law WAV file. Reads nothing behind the header of the data chunk. */
export function readWavLayout(bytes: Uint8Array): WavLayout | null {
  const view = viewOf(bytes)
  if (bytes.length < 12 || riffTagAt(view, 0) !== 'RIFF' || riffTagAt(view, 8) !== 'WAVE') return null
  let format: Omit<WavLayout, 'header'> | null = null
  for (const { tag, at, size } of readRiffChunks(view)) {
    if (tag === 'fmt ' && size >= 16 && at + 16 <= bytes.length) {
      if (view.getUint16(at, true) !== MU_LAW) return null
      format = {
        frameBytes: view.getUint16(at + 12, true),
        framesPerSecond: view.getUint32(at + 4, true),
        silence: MU_LAW_SILENCE,
      }
    }
    if (tag !== 'data') continue
    const isUsable = format !== null && format.frameBytes > 0 && format.framesPerSecond > 0
    return isUsable ? { ...format!, header: Uint8Array.from(bytes.subarray(0, at)) } : null
  }
  return null
}

/** The header of a file with `frames` frames. Sizes are 32-bit: a longer file keeps its data and understates its length. */
export function wavHeader({ header, frameBytes }: WavLayout, frames: number): Uint8Array {
  const copy = Uint8Array.from(header)
  const view = viewOf(copy)
  const dataBytes = Math.min(frames * frameBytes, MAX_DATA_BYTES - copy.length)
  view.setUint32(4, copy.length - 8 + dataBytes, true)
  for (const { tag, at } of readRiffChunks(view)) {
    if (tag === 'fact') view.setUint32(at, Math.floor(dataBytes / frameBytes), true)
    if (tag === 'data') view.setUint32(at - 4, dataBytes, true)
  }
  return copy
}

/** Whole frames in a file of `bytes` bytes, computed from its size alone: the size fields of an unfinished file are wrong. */
export function framesIn({ header, frameBytes }: WavLayout, bytes: number): number {
  return Math.max(0, Math.floor((bytes - header.length) / frameBytes))
}
