/** One chunk of a RIFF file: its four-character tag, where its body begins, and the size it claims. */
interface RiffChunk {
  readonly tag: string
  readonly at: number
  readonly size: number
}

/** The chunks of a WAV file up to and including "data", in order. A size may be larger than the file: callers check it. */
export function* readRiffChunks(view: DataView): Iterable<RiffChunk> {
  for (let at = 12; at + 8 <= view.byteLength; ) {
    const tag = riffTagAt(view, at)
    const size = view.getUint32(at + 4, true)
    yield { tag, at: at + 8, size }
    if (tag === 'data') return
    // Chunks are padded to even length.
    at += 8 + size + (size & 1)
  }
}

export function riffTagAt(view: DataView, at: number): string {
  return String.fromCharCode(view.getUint8(at), view.getUint8(at + 1), view.getUint8(at + 2), view.getUint8(at + 3))
}

export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
