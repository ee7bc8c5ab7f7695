const MU_LAW = 7
const MU_LAW_SILENCE = 0xff
const MAX_DATA_BYTES = 0xffff_ffff

/** How a recording is laid out, from the beginning of one of its files. */
export interface WavLayout {
  /** All before the audio; its sizes are those of the file that it was read from. */
  readonly header: Uint8Array
  /** Bytes of all channels of one sample. */
  readonly frameBytes: number
  readonly framesPerSecond: number
  /** A byte of silence. */
  readonly silence: number
}

/** Null for anything but the beginning of a mu-law WAV; of what follows its data chunk nothing is known. */
export function readWavLayout(bytes: Uint8Array): WavLayout | null {
  const view = viewOf(bytes)
  if (bytes.length < 12 || tagAt(view, 0) !== 'RIFF' || tagAt(view, 8) !== 'WAVE') return null
  let format: Omit<WavLayout, 'header'> | null = null
  for (const { tag, at, size } of chunksOf(view)) {
    if (tag === 'fmt ' && size >= 16 && at + 16 <= bytes.length) {
      if (view.getUint16(at, true) !== MU_LAW) return null
      format = {
        frameBytes: view.getUint16(at + 12, true),
        framesPerSecond: view.getUint32(at + 4, true),
        silence: MU_LAW_SILENCE,
      }
    }
    if (tag !== 'data') continue
    const isSound = format !== null && format.frameBytes > 0 && format.framesPerSecond > 0
    return isSound ? { ...format!, header: Uint8Array.from(bytes.subarray(0, at)) } : null
  }
  return null
}

/** The header of a file with so many frames. Sizes are 32-bit: what is longer keeps its data and understates its length. */
export function wavHeader({ header, frameBytes }: WavLayout, frames: number): Uint8Array {
  const mended = Uint8Array.from(header)
  const view = viewOf(mended)
  const dataBytes = Math.min(frames * frameBytes, MAX_DATA_BYTES - mended.length)
  view.setUint32(4, mended.length - 8 + dataBytes, true)
  for (const { tag, at } of chunksOf(view)) {
    if (tag === 'fact') view.setUint32(at, Math.floor(dataBytes / frameBytes), true)
    if (tag === 'data') view.setUint32(at - 4, dataBytes, true)
  }
  return mended
}

/** Whole frames that a file of `bytes` bytes holds, whatever its header says. */
export function framesIn({ header, frameBytes }: WavLayout, bytes: number): number {
  return Math.max(0, Math.floor((bytes - header.length) / frameBytes))
}

/** Chunks up to the one with the audio, by where their bodies begin. */
function* chunksOf(view: DataView): Iterable<{ tag: string; at: number; size: number }> {
  for (let at = 12; at + 8 <= view.byteLength; ) {
    const tag = tagAt(view, at)
    const size = view.getUint32(at + 4, true)
    yield { tag, at: at + 8, size }
    if (tag === 'data') return
    // Padded to even length.
    at += 8 + size + (size & 1)
  }
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

function tagAt(view: DataView, at: number): string {
  return String.fromCharCode(view.getUint8(at), view.getUint8(at + 1), view.getUint8(at + 2), view.getUint8(at + 3))
}
