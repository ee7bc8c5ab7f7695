import type { Samples } from '@parley/kernel'
import { filterSymmetric, lowPass } from '@parley/media'
import { CARRIER_COS, CARRIER_PERIOD, CARRIER_SIN, PULSE, PULSE_HALF, SYMBOL } from './tone-line.ts'
import type { WordPiece } from './word-code.ts'
import { FRAME_SIZES, FrameReader, MAX_FRAME, PILOT_EVERY, pilot, SYNC_PILOTS } from './word-frame.ts'

/** Baseband values per symbol: the start of a frame is found to a tenth of a symbol. */
const PER_SYMBOL = 5
const HOP: Samples = SYMBOL / PER_SYMBOL
/** Hops from one pilot to the next. */
const PILOT_HOPS = PER_SYMBOL * PILOT_EVERY
const SYNC_HOPS = PILOT_HOPS * (SYNC_PILOTS - 1)
const SYNC_SIGNS = Float64Array.from({ length: SYNC_PILOTS }, (_, i) => pilot(i))
/** Samples that are processed at once. */
const CHUNK: Samples = 160
/** Hops of a chunk, and room for whole groups of those that are filtered together. */
const HOPS = CHUNK / HOP + 4
/**
 * The line is mixed down to the baseband and thinned out to the hops in one step, then filtered by the pulse. The first filter passes the
 * tones; what would fall on them, the nearest being their own image at twice the carrier, begins 1450 Hz beside them.
 */
const THINNING = lowPass({ passHz: 250, stopHz: 1450, stopbandDb: 55 })
const THINNING_HALF = THINNING.length >> 1
/** The pulse at the rate of the hops. */
const HOP_PULSE = Float64Array.from({ length: (2 * PULSE_HALF) / HOP + 1 }, (_, i) => HOP * PULSE[HOP * i]!)
/** Samples that a hop depends on. */
const REACH: Samples = PULSE.length + THINNING.length - 1
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
  /** The last samples before those of a chunk, then these: real and imaginary part after the mixer. */
  readonly #lineRe = new Float64Array(THINNING.length - 1 + CHUNK)
  readonly #lineIm = new Float64Array(THINNING.length - 1 + CHUNK)
  /** The last hops before those of a chunk, then these, thinned out but not yet filtered by the pulse. */
  readonly #thinRe = new Float64Array(HOP_PULSE.length - 1 + HOPS)
  readonly #thinIm = new Float64Array(HOP_PULSE.length - 1 + HOPS)
  readonly #sumsRe = new Float64Array(HOPS)
  readonly #sumsIm = new Float64Array(HOPS)
  /** For each hop of the chunk, whether all it depends on is silence. */
  readonly #isSilent = new Uint8Array(HOPS)
  /** Samples since the last one that was not silent. */
  #silentRun = 0
  /** Samples since the last one that was not zero, at least. */
  #zeroRun = 0
  /** The beginning stands behind the end once more, so that the pilots of a frame are read without a jump. */
  readonly #re = new Float32Array(RING + SYNC_HOPS)
  readonly #im = new Float32Array(RING + SYNC_HOPS)
  readonly #power = new Float64Array(RING)
  /** Power of the hops that would be the newest pilots of a frame, for each of the hops between two of them. */
  readonly #pilotPower = new Float64Array(PILOT_HOPS)
  readonly #correlation = new Float32Array(RING)
  #candidates: Candidate[] = []
  /** Of the carrier at the next sample. */
  #phase = 0
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
    this.#phase = 0
    this.#origin = position + HOP - 1
    this.#untilHop = HOP
    this.#hop = 0
    this.#doneHop = 0
    this.#candidates = []
    this.#silentHops = 0
    for (const line of [this.#lineRe, this.#lineIm, this.#thinRe, this.#thinIm]) line.fill(0)
    this.#silentRun = REACH
    this.#zeroRun = THINNING.length
    for (const ring of [this.#re, this.#im, this.#power, this.#pilotPower, this.#correlation]) ring.fill(0)
  }

  /** Processes the next samples. */
  push(audio: Int16Array, offset: number, count: Samples): void {
    for (let done = 0; done < count; done += CHUNK) this.#pushChunk(audio, offset + done, Math.min(CHUNK, count - done))
  }

  #pushChunk(audio: Int16Array, offset: number, count: Samples): void {
    const hops = this.#thinOut(audio, offset, count)
    if (hops === 0) return
    if (this.#isSilent.subarray(0, hops).includes(0)) {
      filterSymmetric(HOP_PULSE, this.#thinRe, 0, hops, this.#sumsRe)
      filterSymmetric(HOP_PULSE, this.#thinIm, 0, hops, this.#sumsIm)
    }
    this.#thinRe.copyWithin(0, hops, hops + HOP_PULSE.length - 1)
    this.#thinIm.copyWithin(0, hops, hops + HOP_PULSE.length - 1)
    for (let place = 0; place < hops; place++) this.#onHop(place)
  }

  /** Mixes the samples down and thins them out; returns the number of hops that end in them. */
  #thinOut(audio: Int16Array, offset: number, count: Samples): number {
    if (isZero(audio, offset, count)) {
      if (this.#zeroRun >= THINNING.length) return this.#skip(count)
      this.#zeroRun += count
    } else this.#zeroRun = 0
    const lineRe = this.#lineRe
    const lineIm = this.#lineIm
    const before = THINNING.length - 1
    let phase = this.#phase
    let silentRun = this.#silentRun
    let untilHop = this.#untilHop
    let hops = 0
    for (let i = 0; i < count; i++) {
      const sample = audio[offset + i]!
      lineRe[before + i] = sample * CARRIER_COS[phase]!
      lineIm[before + i] = -sample * CARRIER_SIN[phase]!
      phase = phase + 1 === CARRIER_PERIOD ? 0 : phase + 1
      silentRun = Math.abs(sample) <= SILENT ? silentRun + 1 : 0
      if (--untilHop > 0) continue
      untilHop = HOP
      this.#isSilent[hops] = silentRun >= REACH ? 1 : 0
      this.#thin(i, HOP_PULSE.length - 1 + hops, silentRun >= THINNING.length)
      hops++
    }
    this.#phase = phase
    this.#silentRun = silentRun
    this.#untilHop = untilHop
    lineRe.copyWithin(0, count, count + before)
    lineIm.copyWithin(0, count, count + before)
    return hops
  }

  /** As `#thinOut` for zeros after which the lines hold nothing but zeros. */
  #skip(count: Samples): number {
    this.#phase = (this.#phase + count) % CARRIER_PERIOD
    this.#silentRun += count
    let hops = 0
    let untilHop = this.#untilHop
    for (let left = count; left >= untilHop; untilHop = HOP) {
      left -= untilHop
      this.#isSilent[hops] = this.#silentRun - left >= REACH ? 1 : 0
      const place = HOP_PULSE.length - 1 + hops
      this.#thinRe[place] = 0
      this.#thinIm[place] = 0
      hops++
    }
    this.#untilHop = HOP - ((HOP - this.#untilHop + count) % HOP)
    return hops
  }

  /** One value of the first filter, whose window begins at `from`, to place `to` of the line of the second. */
  #thin(from: number, to: number, isSilent: boolean): void {
    let re = 0
    let im = 0
    if (!isSilent) {
      const lineRe = this.#lineRe
      const lineIm = this.#lineIm
      const middle = THINNING[THINNING_HALF]!
      re = middle * lineRe[from + THINNING_HALF]!
      im = middle * lineIm[from + THINNING_HALF]!
      for (let k = 0, left = from, right = from + THINNING.length - 1; k < THINNING_HALF; k++, left++, right--) {
        const tap = THINNING[k]!
        re += tap * (lineRe[left]! + lineRe[right]!)
        im += tap * (lineIm[left]! + lineIm[right]!)
      }
    }
    this.#thinRe[to] = re
    this.#thinIm[to] = im
  }

  /** `place`: of the hop in the chunk. */
  #onHop(place: number): void {
    const isSilent = this.#isSilent[place] === 1
    this.#store(isSilent ? 0 : this.#sumsRe[place]!, isSilent ? 0 : this.#sumsIm[place]!)
    this.#silentHops = isSilent ? this.#silentHops + 1 : 0
    this.#correlation[this.#hop & RING_MASK] =
      this.#hop >= SYNC_HOPS && this.#silentHops <= SYNC_HOPS ? this.#correlationAt(this.#hop) : 0
    const peak = this.#hop - PEAK_REACH
    if (peak >= SYNC_HOPS && this.#isPeak(peak))
      this.#addCandidate(peak - SYNC_HOPS, this.#correlation[peak & RING_MASK]! >= SURE_CORRELATION)
    if (this.#candidates.length > 0) this.#readCandidates()
    this.#hop++
  }

  #store(re: number, im: number): void {
    const slot = this.#hop & RING_MASK
    this.#re[slot] = re
    this.#im[slot] = im
    if (slot < SYNC_HOPS) {
      this.#re[RING + slot] = re
      this.#im[RING + slot] = im
    }
    const power = re * re + im * im
    this.#pilotPower[this.#hop % PILOT_HOPS]! += power - this.#power[(this.#hop - SYNC_HOPS - PILOT_HOPS) & RING_MASK]!
    this.#power[slot] = power
  }

  #correlationAt(last: number): number {
    const power = this.#pilotPower[last % PILOT_HOPS]!
    if (power < MIN_POWER * SYNC_PILOTS) return 0
    let re = 0
    let im = 0
    for (let j = 0, at = (last - SYNC_HOPS) & RING_MASK; j < SYNC_PILOTS; j++, at += PILOT_HOPS) {
      const sign = SYNC_SIGNS[j]!
      re += sign * this.#re[at]!
      im += sign * this.#im[at]!
    }
    return (re * re + im * im) / (SYNC_PILOTS * power)
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
    return this.#origin + HOP * hop - PULSE_HALF - THINNING_HALF
  }
}

function isZero(audio: Int16Array, offset: number, count: Samples): boolean {
  for (let i = 0; i < count; i++) if (audio[offset + i] !== 0) return false
  return true
}
