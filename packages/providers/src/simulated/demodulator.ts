import type { Samples } from '@parley/kernel'
import { CARRIER_COS, CARRIER_PERIOD, CARRIER_SIN, PULSE, PULSE_HALF, SYMBOL } from './tone-line.ts'
import type { WordPiece } from './word-code.ts'
import { FRAME_SIZES, FrameReader, MAX_FRAME, PILOT_EVERY, pilot, SYNC_PILOTS } from './word-frame.ts'

/** Baseband values per symbol: the start of a frame is found to a tenth of a symbol. */
const PER_SYMBOL = 5
const HOP: Samples = SYMBOL / PER_SYMBOL
const SYNC_HOPS = PER_SYMBOL * PILOT_EVERY * (SYNC_PILOTS - 1)
/** Samples that are processed at once. */
const CHUNK: Samples = 160
/** Hops that are filtered together: each sum alone waits for its last addition. */
const TOGETHER = 4
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
  /** The last samples before those of a chunk, then these, and room for whole groups of hops. */
  readonly #line = new Float64Array(PULSE.length - 1 + CHUNK + TOGETHER * HOP)
  /** Baseband values of the chunk's hops, before the phase of the carrier. */
  readonly #mixed = new Float64Array(2 * (CHUNK / HOP + TOGETHER))
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
  /** Hops since the last one with a signal. */
  #silentHops = 0
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
    this.#silentHops = 0
    this.#line.fill(0)
    this.#silentRun = this.#line.length
    this.#re.fill(0)
    this.#im.fill(0)
    this.#correlation.fill(0)
  }

  /** Processes the next samples. */
  push(audio: Int16Array, offset: number, count: Samples): void {
    for (let done = 0; done < count; done += CHUNK) this.#pushChunk(audio, offset + done, Math.min(CHUNK, count - done))
  }

  #pushChunk(audio: Int16Array, offset: number, count: Samples): void {
    const line = this.#line
    const before = PULSE.length - 1
    for (let i = 0; i < count; i++) line[before + i] = audio[offset + i]!
    const firstHop = this.#untilHop - 1
    let filtered = 0
    for (let i = 0; i < count; i++) {
      this.#silentRun = Math.abs(line[before + i]!) <= SILENT ? this.#silentRun + 1 : 0
      this.#position++
      if (--this.#untilHop > 0) continue
      this.#untilHop = HOP
      const isSilent = this.#silentRun >= PULSE.length
      const place = (i - firstHop) / HOP
      if (!isSilent && place >= filtered) {
        this.#filter(i, place)
        filtered = place + TOGETHER
      }
      this.#onHop(isSilent ? -1 : place)
    }
    line.copyWithin(0, count, count + before)
  }

  /** `place`: of its values in the chunk; negative: silence. */
  #onHop(place: number): void {
    const slot = this.#hop & RING_MASK
    this.#store(slot, place)
    this.#silentHops = place < 0 ? this.#silentHops + 1 : 0
    this.#correlation[slot] =
      this.#hop >= SYNC_HOPS && this.#silentHops <= SYNC_HOPS ? this.#correlationAt(this.#hop) : 0
    const peak = this.#hop - PEAK_REACH
    if (peak >= SYNC_HOPS && this.#isPeak(peak))
      this.#addCandidate(peak - SYNC_HOPS, this.#correlation[peak & RING_MASK]! >= SURE_CORRELATION)
    if (this.#candidates.length > 0) this.#readCandidates()
    this.#hop++
  }

  /** Mixes down and filters in one step the windows of four hops; the first one begins at `from` in the line. */
  #filter(from: number, place: number): void {
    const line = this.#line
    const tapsRe = this.#tapsRe
    const tapsIm = this.#tapsIm
    let [re0, re1, re2, re3, im0, im1, im2, im3] = [0, 0, 0, 0, 0, 0, 0, 0]
    for (let i = 0, at = from; i < PULSE.length; i++, at++) {
      const re = tapsRe[i]!
      const im = tapsIm[i]!
      const first = line[at]!
      const second = line[at + HOP]!
      const third = line[at + 2 * HOP]!
      const fourth = line[at + 3 * HOP]!
      re0 += re * first
      im0 += im * first
      re1 += re * second
      im1 += im * second
      re2 += re * third
      im2 += im * third
      re3 += re * fourth
      im3 += im * fourth
    }
    const mixed = this.#mixed
    const to = 2 * place
    mixed[to] = re0
    mixed[to + 1] = im0
    mixed[to + 2] = re1
    mixed[to + 3] = im1
    mixed[to + 4] = re2
    mixed[to + 5] = im2
    mixed[to + 6] = re3
    mixed[to + 7] = im3
  }

  /** The window starts `size` samples back, so the phase depends on the position. */
  #store(slot: number, place: number): void {
    if (place < 0) {
      this.#re[slot] = 0
      this.#im[slot] = 0
      return
    }
    const re = this.#mixed[2 * place]!
    const im = this.#mixed[2 * place + 1]!
    const phase = (this.#position - PULSE.length + 2 * CARRIER_PERIOD) % CARRIER_PERIOD
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
