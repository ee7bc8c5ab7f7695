import { type Ms, NARROWBAND, type Samples, samplesToMs } from '@parley/kernel'
import { DTMF_BLOCK, DtmfSpectrum, shownOf, toneOmega } from './dtmf-tones.ts'

/** Rows of the keypad. */
const DIGITS = '123A456B789C*0#D'
const COLUMN = 4

const decibels = (db: number): number => 10 ** (db / 10)

/** Tolerance on all limits: noise and quantisation change measured values by this much. */
const TOLERANCE_DB = 0.5
/** -42 dBm0: a sine of full scale is 3.14 dBm0 (ITU-T G.711). Mean square of samples of 16 bits. */
const THRESHOLD = (32768 ** 2 / 2) * decibels(-42 - 3.14 - TOLERANCE_DB)
/** Blocks below this cannot even be the edge of a digit at the threshold. */
const QUIET = THRESHOLD * decibels(-17)
/** Low group above high group. */
const NORMAL_TWIST = decibels(8 + TOLERANCE_DB)
const REVERSE_TWIST = decibels(4 + TOLERANCE_DB)
const RELATIVE_PEAK = decibels(8)
/** Least share of the power that the pair of tones must have. */
const PAIR_SHARE = decibels(-0.85)
/**
 * A single block cannot tell a tone off its frequency from one that fills it only partly: these are looser by what 1.5 %
 * can hide (1.5 dB), and the strict limits are applied when two blocks agree.
 */
const BLOCK_SLACK = decibels(2)
const BLOCK_PAIR_SHARE = 0.55
/**
 * Least share of the power in both blocks together: the other harmonics of a voice show more than the noise of a line
 * does.
 */
const MEAN_PAIR_SHARE = decibels(-0.55)
/** Between 1.5 %, which must be accepted, and 3.5 %, which must not, with a margin for noise. */
const MAX_DEVIATION = 0.021
/** Both tones off by 1.5 % in opposite directions, and as much again for noise: harmonics of a voice are often further apart. */
const MAX_APART = 0.036
/** Between 23 ms and 40 ms. */
const SHORTEST: Samples = 252
/** Between a drop-out of 10 ms and a pause of 50 ms. */
const PAUSE: Samples = 240

const RESULTS = 8

/**
 * Detects digits in audio, after ITU-T Q.24: Goertzel over blocks of 102 samples; two blocks must agree; each digit is
 * reported once, when it has ended. The duration is measured by how much of each block the tones fill, so that the
 * limits are independent of where blocks begin. After `push`, drain with `while (detector.take()) …` and read the
 * fields. Allocates nothing.
 */
export class InBandDetector {
  /** Result of the last `take()`. */
  digit = ''
  /** Position at which the digit began, on the sample clock; within a few ms. */
  position: Samples = 0
  durationMs: Ms = 0

  readonly #block = new Float64Array(DTMF_BLOCK)
  #filled = 0
  /** Position of the block being filled. */
  #blockPosition: Samples = 0
  /** Spectra of the last three blocks, the newest first. */
  #now = new DtmfSpectrum()
  #before = new DtmfSpectrum()
  #earlier = new DtmfSpectrum()
  /** Digit of the last block, or -1. */
  #candidate = -1
  /** The digit in progress, or -1. */
  #sounding = -1
  #begun: Samples = 0
  #on: Samples = 0
  #off: Samples = 0
  /** Magnitude of the pair in a block that it fills. */
  #full = 0

  readonly #resultDigit = new Uint8Array(RESULTS)
  readonly #resultPosition = new Float64Array(RESULTS)
  readonly #resultSamples = new Float64Array(RESULTS)
  #head = 0
  #tail = 0

  /**
   * `position`: position of audio[offset] on the sample clock; a jump against the last push ends the digit in progress.
   */
  push(position: Samples, audio: Int16Array, offset: number, count: Samples): void {
    if (position !== this.#blockPosition + this.#filled) this.#restart(position)
    for (let i = 0; i < count; i++) {
      this.#block[this.#filled++] = audio[offset + i]!
      if (this.#filled < DTMF_BLOCK) continue
      this.#onBlock()
      this.#blockPosition += DTMF_BLOCK
      this.#filled = 0
    }
  }

  take(): boolean {
    if (this.#head === this.#tail) return false
    const i = this.#head++ & (RESULTS - 1)
    this.digit = DIGITS[this.#resultDigit[i]!]!
    this.position = this.#resultPosition[i]!
    this.durationMs = samplesToMs(this.#resultSamples[i]!, NARROWBAND)
    return true
  }

  /** Whether a digit may be in progress. */
  get sounding(): boolean {
    return this.#sounding >= 0
  }

  #restart(position: Samples): void {
    this.#end()
    this.#candidate = -1
    this.#blockPosition = position
    this.#filled = 0
  }

  #onBlock(): void {
    const now = this.#earlier
    this.#earlier = this.#before
    this.#before = this.#now
    this.#now = now
    now.analyse(this.#block, QUIET)
    const candidate = this.#candidateOf(now)
    if (this.#sounding >= 0) this.#continue(candidate)
    if (this.#sounding < 0 && candidate >= 0 && candidate === this.#candidate) this.#begin(candidate)
    this.#candidate = candidate
  }

  /** The digit that this block alone suggests, or -1; if there is one, its spectrum is separated. */
  #candidateOf(block: DtmfSpectrum): number {
    if (block.power < THRESHOLD) return -1
    const { row } = block
    const column = COLUMN + block.column
    if (block.tonePower(row) + block.tonePower(column) < BLOCK_PAIR_SHARE * block.power) return -1
    block.separate()
    const low = block.magnitude(row)
    const high = block.magnitude(column)
    if (low > high * NORMAL_TWIST * BLOCK_SLACK || high > low * REVERSE_TWIST * BLOCK_SLACK) return -1
    for (let i = 0; i < 4; i++) {
      if (i !== row && block.magnitude(i) * RELATIVE_PEAK > low) return -1
      if (i !== block.column && block.magnitude(COLUMN + i) * RELATIVE_PEAK > high) return -1
    }
    return row * 4 + block.column
  }

  /** Two blocks agree: applies the strict limits to the frequencies and powers of both together. */
  #begin(digit: number): void {
    const row = digit >> 2
    const column = COLUMN + (digit & 3)
    const lowOff = this.#now.deviation(row, this.#before)
    const highOff = this.#now.deviation(column, this.#before)
    const lowShare = lowOff / toneOmega(row)
    const highShare = highOff / toneOmega(column)
    if (Math.max(Math.abs(lowShare), Math.abs(highShare)) > MAX_DEVIATION) return
    if (Math.abs(lowShare - highShare) > MAX_APART) return
    const lowShown = shownOf(lowOff)
    const highShown = shownOf(highOff)
    const now = pairShare(this.#now, row, column, lowShown, highShown)
    const before = pairShare(this.#before, row, column, lowShown, highShown)
    if (now < PAIR_SHARE || before < PAIR_SHARE || (now + before) / 2 < MEAN_PAIR_SHARE) return
    const low = Math.max(this.#now.tonePower(row), this.#before.tonePower(row)) / lowShown
    const high = Math.max(this.#now.tonePower(column), this.#before.tonePower(column)) / highShown
    if (low < THRESHOLD || high < THRESHOLD || low > high * NORMAL_TWIST || high > low * REVERSE_TWIST) return
    this.#sounding = digit
    // In a block of which the tones fill a share c, the measured tone power is c squared of theirs, and their share of
    // the block's power is c.
    this.#full = Math.max(
      pairMagnitude(this.#now, digit) / Math.min(1, now),
      pairMagnitude(this.#before, digit) / Math.min(1, before),
    )
    const lead = this.#filledBy(this.#earlier)
    this.#on = lead + this.#filledBy(this.#before) + this.#filledBy(this.#now)
    this.#off = 0
    this.#begun = this.#blockPosition - DTMF_BLOCK - lead
    if (lead < DTMF_BLOCK / 16) this.#begun += DTMF_BLOCK - this.#filledBy(this.#before)
  }

  #continue(candidate: number): void {
    if (candidate === this.#sounding) {
      this.#on += this.#filledBy(this.#now)
      this.#off = 0
      return
    }
    const filled = this.#filledBy(this.#now)
    this.#on += filled
    this.#off += DTMF_BLOCK - filled
    const another = candidate >= 0 && candidate === this.#candidate
    if (another || this.#off >= PAUSE) this.#end()
  }

  #end(): void {
    const digit = this.#sounding
    this.#sounding = -1
    // The queue is full only if the owner does not call `take`: then the newest digit is dropped.
    if (digit < 0 || this.#on < SHORTEST || this.#tail - this.#head === RESULTS) return
    const i = this.#tail++ & (RESULTS - 1)
    this.#resultDigit[i] = digit
    this.#resultPosition[i] = Math.max(0, Math.round(this.#begun))
    this.#resultSamples[i] = Math.round(this.#on)
  }

  /** Samples of a block that the pair in progress fills. */
  #filledBy(block: DtmfSpectrum): Samples {
    return DTMF_BLOCK * Math.min(1, Math.sqrt(pairMagnitude(block, this.#sounding) / this.#full))
  }
}

function pairMagnitude(block: DtmfSpectrum, digit: number): number {
  return block.magnitude(digit >> 2) + block.magnitude(COLUMN + (digit & 3))
}

/** The pair's share of the block's power, corrected for frequencies off nominal. */
function pairShare(block: DtmfSpectrum, row: number, column: number, lowShown: number, highShown: number): number {
  return (block.tonePower(row) / lowShown + block.tonePower(column) / highShown) / block.power
}
