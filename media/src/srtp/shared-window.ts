import type { ReplayWindow } from './replay-window.ts'
import type { SrtpStream } from './stream-table.ts'

/** Which replay window of one key is in memory that the native path uses as well: that of one source at a time. */
export class SharedWindow {
  #window: ReplayWindow | null = null

  /** Moves the window of RTP of `stream` to `memory`; false: there is none yet. */
  of(stream: SrtpStream | null, memory: Float64Array): boolean {
    if (stream === null || stream.rtp.highest < 0) return false
    if (stream.rtp === this.#window) return true
    this.end()
    stream.rtp.moveTo(memory)
    this.#window = stream.rtp
    return true
  }

  /** Moves the window to memory of its own. */
  end(): void {
    this.#window?.moveTo()
    this.#window = null
  }
}
