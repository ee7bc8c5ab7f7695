import type { Samples } from '@parley/kernel'

/** Records both directions of a session on its sample clock; `RecordingRing` on media threads. */
export interface SessionRecorder {
  /** The ring, where it is one in shared memory that the native path can write as well. */
  readonly memory?: SharedArrayBuffer
  /** Received audio. */
  writeLeft(position: Samples, samples: Int16Array, offset: number, count: Samples): void
  /** Sent audio. */
  writeRight(position: Samples, samples: Int16Array, offset: number, count: Samples): void
  end(position: Samples): void
}

/** Samples per piece of a recording in memory: a minute at 8 kHz. */
const PIECE_SAMPLES: Samples = 480_000

/** Records in memory, for calls in virtual time. */
export class MemoryRecorder implements SessionRecorder {
  readonly #left: Int16Array[] = []
  readonly #right: Int16Array[] = []
  #end: Samples = 0
  #closed = false

  writeLeft(position: Samples, samples: Int16Array, offset: number, count: Samples): void {
    this.#place(this.#left, position, samples, offset, count)
  }

  writeRight(position: Samples, samples: Int16Array, offset: number, count: Samples): void {
    this.#place(this.#right, position, samples, offset, count)
  }

  end(position: Samples): void {
    this.#end = Math.max(this.#end, position)
    this.#closed = true
  }

  /** Copies of both channels, equally long, silent where nothing was written. */
  channels(): { readonly left: Int16Array; readonly right: Int16Array } {
    return { left: this.#joined(this.#left), right: this.#joined(this.#right) }
  }

  #joined(pieces: Int16Array[]): Int16Array {
    const out = new Int16Array(this.#end)
    for (let i = 0; i < pieces.length; i++) {
      const at = i * PIECE_SAMPLES
      out.set(pieces[i]!.subarray(0, Math.min(PIECE_SAMPLES, this.#end - at)), at)
    }
    return out
  }

  #place(pieces: Int16Array[], position: Samples, samples: Int16Array, offset: number, count: Samples): void {
    if (this.#closed || position < 0) return
    for (let done = 0; done < count; ) {
      const at = position + done
      const piece = Math.floor(at / PIECE_SAMPLES)
      while (pieces.length <= piece) pieces.push(new Int16Array(PIECE_SAMPLES))
      const within = at % PIECE_SAMPLES
      const n = Math.min(count - done, PIECE_SAMPLES - within)
      pieces[piece]!.set(samples.subarray(offset + done, offset + done + n), within)
      done += n
    }
    this.#end = Math.max(this.#end, position + count)
  }
}
