import type { Samples } from '@parley/kernel'

/** Where a session's two sides are recorded, on its sample clock; `RecordingRing` on media threads. */
export interface SessionRecorder {
  /** What was heard. */
  writeLeft(position: Samples, samples: Int16Array, offset: number, count: Samples): void
  /** What was sent. */
  writeRight(position: Samples, samples: Int16Array, offset: number, count: Samples): void
  end(position: Samples): void
}

/** Keeps a recording in memory: for calls in virtual time. */
export class MemoryRecorder implements SessionRecorder {
  #left: Int16Array = new Int16Array(8000)
  #right: Int16Array = new Int16Array(8000)
  #end: Samples = 0
  #closed = false

  writeLeft(position: Samples, samples: Int16Array, offset: number, count: Samples): void {
    this.#left = this.#place(this.#left, position, samples, offset, count)
  }

  writeRight(position: Samples, samples: Int16Array, offset: number, count: Samples): void {
    this.#right = this.#place(this.#right, position, samples, offset, count)
  }

  end(position: Samples): void {
    this.#end = Math.max(this.#end, position)
    this.#closed = true
  }

  /** Copies, equally long, silent where nothing was written. */
  channels(): { readonly left: Int16Array; readonly right: Int16Array } {
    return { left: this.#padded(this.#left), right: this.#padded(this.#right) }
  }

  #padded(channel: Int16Array): Int16Array {
    const out = new Int16Array(this.#end)
    out.set(channel.subarray(0, Math.min(channel.length, this.#end)))
    return out
  }

  #place(channel: Int16Array, position: Samples, samples: Int16Array, offset: number, count: Samples): Int16Array {
    if (this.#closed || position < 0) return channel
    let target = channel
    if (position + count > channel.length) {
      target = new Int16Array(Math.max(channel.length * 2, position + count))
      target.set(channel)
    }
    target.set(samples.subarray(offset, offset + count), position)
    this.#end = Math.max(this.#end, position + count)
    return target
  }
}
