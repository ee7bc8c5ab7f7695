import type { Samples } from '@parley/kernel'
import { CARRIER_COS, CARRIER_PERIOD, CARRIER_SIN, PULSE, PULSE_HALF, SYMBOL } from './tone-line.ts'
import type { WordPiece } from './word-code.ts'
import { FRAME_SIZES, FrameReader, MAX_FRAME, PILOT_EVERY, pilot, SYNC_PILOTS } from './word-frame.ts'

/** Baseband values per symbol: the start of a frame is found to a tenth of a symbol. */
const PER_SYMBOL = 5
const HOP: Samples = SYMBOL / PER_SYMBOL
const SYNC_HOPS = PER_SYMBOL * PILOT_EVERY * (SYNC_PILOTS - 1)
/** Twice the longest frame, so that the values of a candidate are never overwritten. */
const RING = 4096
const RING_MASK = RING - 1
/** Least squared correlation with the pilots of a candidate; noise reaches it twice a second. */
const MIN_CORRELATION = 0.28
/** Squared correlation that counts as a frame before it is decoded; noise reaches it once in minutes. */
const SURE_CORRELATION = 0.42
/** A candidate has the greatest correlation within half a symbol. */
const PEAK_REACH = 3
/** Baseband power below which there is no signal: 20 dB below the quietest frames. */
const MIN_POWER = 100
/** Samples up to this amplitude, the codecs' silence, are 5 dB below the quietest frames at least: a window of them is not filtered. */
const SILENT = 8
const MAX_CANDIDATES = 16

interface Candidate {
  /** Hop of its first symbol. */
  readonly start: number
  readonly sure: boolean
  /** The next frame size to try. */
  size: number
}

type OnWordPiece = (piece: WordPiece, startSample: Samples, endSample: Samples) => void

/** Finds the frames of words in 8 kHz audio. Allocates only for candidates. */
export class Demodulator {
  readonly #onPiece: OnWordPiece
  readonly #reader = new FrameReader()
  readonly #symbols = new Float32Array(2 * MAX_FRAME.symbols)
  /** The last samples, stored twice, so that every window is contiguous. */
  readonly #recent = new Float64Array(2 * PULSE.length)
  #recentAt = 0
  /** Samples since the last one that was not silent. */
  #silentRun = 0
  readonly #tapsRe = PULSE.map((tap, i) => tap * CARRIER_COS[i % CARRIER_PERIOD]!)
  readonly #tapsIm = PULSE.map((tap, i) => -tap * CARRIER_SIN[i % CARRIER_PERIOD]!)
  readonly #re = new Float32Array(RING)
  readonly #im = new Float32Array(RING)
  readonly #correlation = new Float32Array(RING)
  #candidates: Candidate[] = []
  /** Position of the next sample. */
  #position: Samples = 0
  /** Position of the newest sample of hop 0. */
  #origin: Samples = 0
  #untilHop = HOP
  #hop = 0
  /** Frames before this hop were decoded. */
  #doneHop = 0

  constructor(onPiece: OnWordPiece) {
    this.#onPiece = onPiece
    this.restart(0)
  }

  /** Whether a frame has probably begun and is not decoded yet; known 200 ms after its start. */
  get receiving(): boolean {
    return this.#candidates.some(({ sure }) => sure)
  }

  /** Discards all state; the next sample is at `position`. */
  restart(position: Samples): void {
    this.#position = position
    this.#origin = position + HOP - 1
    this.#untilHop = HOP
    this.#hop = 0
    this.#doneHop = 0
    this.#candidates = []
    this.#recent.fill(0)
    this.#silentRun = this.#recent.length
    this.#re.fill(0)
    this.#im.fill(0)
    this.#correlation.fill(0)
  }

  /** Processes the next samples. */
  push(audio: Int16Array, offset: number, count: Samples): void {
    const size = PULSE.length
    for (let i = 0; i < count; i++) {
      const sample = audio[offset + i]!
      this.#recent[this.#recentAt] = sample
      this.#recent[this.#recentAt + size] = sample
      this.#silentRun = Math.abs(sample) <= SILENT ? this.#silentRun + 1 : 0
      this.#recentAt = this.#recentAt + 1 === size ? 0 : this.#recentAt + 1
      this.#position++
      if (--this.#untilHop > 0) continue
      this.#untilHop = HOP
      this.#onHop()
    }
  }

  #onHop(): void {
    const slot = this.#hop & RING_MASK
    this.#filter(slot)
    this.#correlation[slot] = this.#hop >= SYNC_HOPS ? this.#correlationAt(this.#hop) : 0
    const peak = this.#hop - PEAK_REACH
    if (peak >= SYNC_HOPS && this.#isPeak(peak))
      this.#addCandidate(peak - SYNC_HOPS, this.#correlation[peak & RING_MASK]! >= SURE_CORRELATION)
    if (this.#candidates.length > 0) this.#readCandidates()
    this.#hop++
  }

  /** Mixes down and filters in one step: the window starts `size` samples back, so the phase depends on the position. */
  #filter(slot: number): void {
    const size = PULSE.length
    if (this.#silentRun >= size) {
      this.#re[slot] = 0
      this.#im[slot] = 0
      return
    }
    let re = 0
    let im = 0
    for (let i = 0, at = this.#recentAt; i < size; i++, at++) {
      const sample = this.#recent[at]!
      re += this.#tapsRe[i]! * sample
      im += this.#tapsIm[i]! * sample
    }
    const phase = (this.#position - size + 2 * CARRIER_PERIOD) % CARRIER_PERIOD
    const cos = CARRIER_COS[phase]!
    const sin = CARRIER_SIN[phase]!
    this.#re[slot] = re * cos + im * sin
    this.#im[slot] = im * cos - re * sin
  }

  #correlationAt(last: number): number {
    let re = 0
    let im = 0
    let power = 0
    for (let j = 0, hop = last - SYNC_HOPS; j < SYNC_PILOTS; j++, hop += PER_SYMBOL * PILOT_EVERY) {
      const a = this.#re[hop & RING_MASK]!
      const b = this.#im[hop & RING_MASK]!
      const sign = pilot(j)
      re += sign * a
      im += sign * b
      power += a * a + b * b
    }
    return power < MIN_POWER * SYNC_PILOTS ? 0 : (re * re + im * im) / (SYNC_PILOTS * power)
  }

  #isPeak(hop: number): boolean {
    const correlation = this.#correlation[hop & RING_MASK]!
    if (correlation < MIN_CORRELATION) return false
    for (let d = 1; d <= PEAK_REACH; d++) {
      if (this.#correlation[(hop - d) & RING_MASK]! > correlation) return false
      if (this.#correlation[(hop + d) & RING_MASK]! >= correlation) return false
    }
    return true
  }

  #addCandidate(start: number, sure: boolean): void {
    if (start < this.#doneHop || this.#candidates.length >= MAX_CANDIDATES) return
    this.#candidates.push({ start, sure, size: 0 })
  }

  #readCandidates(): void {
    for (const candidate of this.#candidates) {
      while (candidate.size < FRAME_SIZES.length) {
        const size = FRAME_SIZES[candidate.size]!
        const lastHop = candidate.start + PER_SYMBOL * (size.symbols - 1)
        if (lastHop > this.#hop) break
        candidate.size++
        const piece = this.#read(candidate.start, candidate.size - 1)
        if (piece === null) continue
        this.#doneHop = lastHop + 1
        this.#candidates = this.#candidates.filter(({ start }) => start >= this.#doneHop)
        const at = this.#sampleOf(candidate.start)
        this.#onPiece(piece, at, at + SYMBOL * size.symbols)
        return
      }
    }
    if (this.#candidates.some(({ size }) => size === FRAME_SIZES.length))
      this.#candidates = this.#candidates.filter(({ size }) => size < FRAME_SIZES.length)
  }

  #read(start: number, sizeIndex: number): WordPiece | null {
    const size = FRAME_SIZES[sizeIndex]!
    for (let i = 0; i < size.symbols; i++) {
      const slot = (start + PER_SYMBOL * i) & RING_MASK
      this.#symbols[2 * i] = this.#re[slot]!
      this.#symbols[2 * i + 1] = this.#im[slot]!
    }
    return this.#reader.read(this.#symbols, size)
  }

  /** The middle of the symbol that a hop matches. */
  #sampleOf(hop: number): Samples {
    return this.#origin + HOP * hop - PULSE_HALF
  }
}
