import type { Samples } from '@parley/kernel'
import { wordsClass } from '../page/words.ts'
import { type LowPassDesign, lowPass } from './windowed-sinc.ts'

/** Samples that are filtered at once. */
const CHUNK: Samples = 160
/** Outputs whose sums are made together: each sum alone waits for its last addition. */
const TOGETHER = 4

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

/** A linear-phase low-pass over a stream of audio. */
export class LowPassFilter {
  /** Delay of the filter. */
  readonly delay: Samples
  /** Whether its state is in the memory that was given: the filter has no more taps than that has room for. */
  readonly isInMemory: boolean
  readonly #taps: Float64Array
  readonly #history: Int16Array
  /** The history, then the samples of a chunk and room for whole groups. */
  readonly #line: Float64Array

  constructor(design: LowPassDesign, memory?: LowPassMemory) {
    this.#taps = lowPass(design)
    const size = this.#taps.length
    this.delay = size >> 1
    this.#line = new Float64Array(size - 1 + CHUNK + TOGETHER)
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
    const line = this.#line
    const size = this.#taps.length
    line.set(this.#history)
    for (let i = 0; i < count; i++) line[size - 1 + i] = audio[offset + i]!
    // A window of zeros yields zero and is not computed.
    let zeros = 0
    while (zeros < size - 1 && line[size - 2 - zeros] === 0) zeros++
    for (let from = 0; from < count; from += TOGETHER) {
      const until = Math.min(from + TOGETHER, count)
      let areZero = true
      for (let i = from; i < until; i++) {
        zeros = line[size - 1 + i] === 0 ? zeros + 1 : 0
        if (zeros < size) areZero = false
      }
      if (areZero) into.fill(0, intoOffset + from, intoOffset + until)
      else this.#filterGroup(from, until - from, into, intoOffset + from)
    }
    for (let i = 0; i < size - 1; i++) this.#history[i] = line[count + i]!
  }

  /** The next four outputs, of which `count` are wanted; `from`: the first sample of their first window. */
  #filterGroup(from: number, count: number, into: Int16Array, at: number): void {
    const taps = this.#taps
    const line = this.#line
    const half = this.delay
    const middle = taps[half]!
    let a = middle * line[from + half]!
    let b = middle * line[from + half + 1]!
    let c = middle * line[from + half + 2]!
    let d = middle * line[from + half + 3]!
    for (let k = 0, left = from, right = from + taps.length - 1; k < half; k++, left++, right--) {
      const tap = taps[k]!
      a += tap * (line[left]! + line[right]!)
      b += tap * (line[left + 1]! + line[right + 1]!)
      c += tap * (line[left + 2]! + line[right + 2]!)
      d += tap * (line[left + 3]! + line[right + 3]!)
    }
    into[at] = sampleOf(a)
    if (count > 1) into[at + 1] = sampleOf(b)
    if (count > 2) into[at + 2] = sampleOf(c)
    if (count > 3) into[at + 3] = sampleOf(d)
  }
}

function sampleOf(sum: number): number {
  return Math.max(-32_768, Math.min(32_767, Math.round(sum)))
}
