import { msToSamples, NARROWBAND, type Samples } from '@parley/kernel'

/** Room at first, and how much is forgotten at once: moving the memory for every few samples would cost more than hearing them. */
const PIECE: Samples = msToSamples(10_000, NARROWBAND)
const SILENCE = new Int16Array(PIECE)

/** The newest of what came down a line, 8 kHz, in one piece. */
export class HeardAudio {
  readonly #most: Samples
  #memory = new Int16Array(PIECE)
  #length = 0
  /** Position behind the newest sample; null before the first. */
  #end: Samples | null = null

  /** Remembers the newest `most` samples. */
  constructor(most: Samples) {
    this.#most = most
  }

  /** `atSample`: where the first of `audio` lies on the sample clock; what was lost before it is remembered as silence. */
  append(audio: Int16Array, atSample: Samples): void {
    const lost = Math.min(atSample - (this.#end ?? atSample), this.#most)
    for (let left = lost; left > 0; left -= PIECE) this.#push(SILENCE.subarray(0, Math.min(left, PIECE)))
    for (let from = 0; from < audio.length; from += PIECE) this.#push(audio.subarray(from, from + PIECE))
    this.#end = atSample + audio.length
  }

  /** Position behind the newest sample; 0 before the first. */
  get end(): Samples {
    return this.#end ?? 0
  }

  /** A copy of the newest `count` samples, of less where there are less; default all that are remembered. */
  samples(count: Samples = this.#most): Int16Array {
    return this.#memory.slice(Math.max(0, this.#length - Math.min(count, this.#most)), this.#length)
  }

  #push(piece: Int16Array): void {
    if (this.#length + piece.length > this.#memory.length) this.#makeRoom(piece.length)
    this.#memory.set(piece, this.#length)
    this.#length += piece.length
  }

  #makeRoom(coming: Samples): void {
    const kept = this.#memory.subarray(Math.max(0, this.#length - this.#most), this.#length)
    const room = Math.min(Math.max(this.#memory.length, 2 * (kept.length + coming)), this.#most + PIECE)
    const memory = room === this.#memory.length ? this.#memory : new Int16Array(room)
    memory.set(kept)
    this.#memory = memory
    this.#length = kept.length
  }
}
