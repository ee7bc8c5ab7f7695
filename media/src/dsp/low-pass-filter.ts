import type { Samples } from '@parley/kernel'
import { wordsClass } from '../page/words.ts'
import { filterSymmetric, TOGETHER } from './symmetric-filter.ts'
import { type LowPassDesign, lowPass } from './windowed-sinc.ts'

/** Samples that are filtered at once. */
const CHUNK: Samples = 160
/** Most taps of a filter whose memory the native media path reads and changes as well. */
export const MOST_TAPS = 128

/** `taps`: their number; 0: there is no filter. */
export const BandWords = wordsClass('taps')

/** Memory of a filter: numbers as in `BandWords`, its taps, and the samples before the next ones, oldest first. */
export interface LowPassMemory {
  readonly state: Float64Array
  readonly taps: Float64Array
  readonly history: Int16Array
}

/** What all filters of the thread work in, while they filter one chunk. */
const sums = new Float64Array(CHUNK + TOGETHER)
let longestLine = new Float64Array(0)

/** A linear-phase low-pass over a stream of audio. */
export class LowPassFilter {
  /** Delay of the filter. */
  readonly delay: Samples
  /** Whether its state is in the memory that was given: the filter has no more taps than that has room for. */
  readonly isInMemory: boolean
  readonly #taps: Float64Array
  readonly #history: Int16Array

  constructor(design: LowPassDesign, memory?: LowPassMemory) {
    this.#taps = lowPass(design)
    const size = this.#taps.length
    this.delay = size >> 1
    const lineLength = size - 1 + CHUNK + TOGETHER
    if (longestLine.length < lineLength) longestLine = new Float64Array(lineLength)
    this.isInMemory = memory !== undefined && size <= MOST_TAPS
    this.#history = this.isInMemory ? memory!.history.subarray(0, size - 1) : new Int16Array(size - 1)
    this.reset()
    if (!this.isInMemory) return
    memory!.taps.set(this.#taps)
    new BandWords(memory!.state).taps = size
  }

  /** Filters `count` samples from `audio[offset]` to `into[intoOffset]`; the two may be the same place. Allocates nothing. */
  filter(audio: Int16Array, offset: number, count: Samples, into: Int16Array, intoOffset: number): void {
    for (let done = 0; done < count; done += CHUNK)
      this.#filterChunk(audio, offset + done, Math.min(CHUNK, count - done), into, intoOffset + done)
  }

  /** Clears the filter's state, for use after a gap. */
  reset(): void {
    this.#history.fill(0)
  }

  #filterChunk(audio: Int16Array, offset: number, count: Samples, into: Int16Array, intoOffset: number): void {
    // The history, then the samples of a chunk and room for whole groups.
    const line = longestLine
    const size = this.#taps.length
    line.set(this.#history)
    for (let i = 0; i < count; i++) line[size - 1 + i] = audio[offset + i]!
    // Windows of zeros yield zeros and are not computed.
    let last = size - 1 + count - 1
    while (last >= 0 && line[last] === 0) last--
    if (last < 0) into.fill(0, intoOffset, intoOffset + count)
    else {
      filterSymmetric(this.#taps, line, 0, count, sums)
      for (let i = 0; i < count; i++) into[intoOffset + i] = sampleOf(sums[i]!)
    }
    for (let i = 0; i < size - 1; i++) this.#history[i] = line[count + i]!
  }
}

function sampleOf(sum: number): number {
  return Math.max(-32_768, Math.min(32_767, Math.round(sum)))
}
