import { NARROWBAND, type Samples } from '@parley/kernel'

/** One analysis block: 12.75 ms, a little less than half of the shortest digit. */
export const DTMF_BLOCK: Samples = 102

/** ITU-T Q.23. */
const ROWS_HZ = [697, 770, 852, 941] as const
const COLUMNS_HZ = [1209, 1336, 1477, 1633] as const
const TONES = 8
const COLUMN = 4

/** Radians per sample. */
const OMEGA = Float64Array.from([...ROWS_HZ, ...COLUMNS_HZ], hz => (2 * Math.PI * hz) / NARROWBAND.sampleRateHz)
const TWICE_COSINE = OMEGA.map(omega => 2 * Math.cos(omega))
const COSINE = OMEGA.map(omega => Math.cos(omega))
const SINE = OMEGA.map(omega => Math.sin(omega))
/**
 * Share of a row tone that leaks into the bin of a column tone; its conjugate is what a column tone leaks into a row.
 */
const LEAK_RE = new Float64Array(16)
const LEAK_IM = new Float64Array(16)
for (let row = 0; row < 4; row++) {
  for (let column = 0; column < 4; column++) {
    const apart = OMEGA[row]! - OMEGA[COLUMN + column]!
    const size = Math.sin((DTMF_BLOCK * apart) / 2) / (DTMF_BLOCK * Math.sin(apart / 2))
    LEAK_RE[row * 4 + column] = size * Math.cos((apart * (DTMF_BLOCK - 1)) / 2)
    LEAK_IM[row * 4 + column] = -size * Math.sin((apart * (DTMF_BLOCK - 1)) / 2)
  }
}

/** The DTMF frequencies of one block. */
export class DtmfSpectrum {
  /** Mean square of the block's samples. */
  power = 0
  /** Strongest row and column. */
  row = 0
  column = 0
  /**
   * Each tone as a complex number, with its phase at the block's last sample: rows 0-3, columns 4-7. `separate` changes
   * them.
   */
  readonly re = new Float64Array(TONES)
  readonly im = new Float64Array(TONES)

  /** Goertzel's algorithm over the whole block, for all tones; a block with less power than `quiet` has none. */
  analyse(block: Float64Array, quiet: number): void {
    let energy = 0
    for (let i = 0; i < DTMF_BLOCK; i++) energy += block[i]! * block[i]!
    this.power = energy / DTMF_BLOCK
    if (this.power < quiet) {
      this.re.fill(0)
      this.im.fill(0)
      return
    }
    this.#goertzel(block, 0)
    this.#goertzel(block, COLUMN)
    this.row = this.#strongest(0)
    this.column = this.#strongest(COLUMN)
  }

  /** Four tones interleaved, so that the processor computes one while another's last step completes. */
  #goertzel(block: Float64Array, from: number): void {
    const fa = TWICE_COSINE[from]!
    const fb = TWICE_COSINE[from + 1]!
    const fc = TWICE_COSINE[from + 2]!
    const fd = TWICE_COSINE[from + 3]!
    let [a1, a2, b1, b2, c1, c2, d1, d2] = [0, 0, 0, 0, 0, 0, 0, 0]
    for (let i = 0; i < DTMF_BLOCK; i++) {
      const x = block[i]!
      const a = x + fa * a1 - a2
      const b = x + fb * b1 - b2
      const c = x + fc * c1 - c2
      const d = x + fd * d1 - d2
      a2 = a1
      a1 = a
      b2 = b1
      b1 = b
      c2 = c1
      c1 = c
      d2 = d1
      d1 = d
    }
    this.#set(from, a1, a2)
    this.#set(from + 1, b1, b2)
    this.#set(from + 2, c1, c2)
    this.#set(from + 3, d1, d2)
  }

  #set(tone: number, last: number, before: number): void {
    this.re[tone] = last - COSINE[tone]! * before
    this.im[tone] = SINE[tone]! * before
  }

  /** Squared magnitude of one tone. */
  magnitude(tone: number): number {
    return this.re[tone]! * this.re[tone]! + this.im[tone]! * this.im[tone]!
  }

  /** Mean square of a tone of this bin's magnitude. */
  tonePower(tone: number): number {
    return (2 * this.magnitude(tone)) / (DTMF_BLOCK * DTMF_BLOCK)
  }

  /**
   * Removes from each bin what the strongest row and column leak into the other group (up to 9 % of their amplitude,
   * which is much for a tone that is 8 dB weaker).
   */
  separate(): void {
    const { re, im, row, column } = this
    const c = COLUMN + column
    const leakRe = LEAK_RE[row * 4 + column]!
    const leakIm = LEAK_IM[row * 4 + column]!
    // row' = R + conj(L) C, column' = C + L R, solved for R and C.
    const scale = 1 / (1 - leakRe * leakRe - leakIm * leakIm)
    const rRe = (re[row]! - leakRe * re[c]! - leakIm * im[c]!) * scale
    const rIm = (im[row]! - leakRe * im[c]! + leakIm * re[c]!) * scale
    const cRe = (re[c]! - leakRe * re[row]! + leakIm * im[row]!) * scale
    const cIm = (im[c]! - leakRe * im[row]! - leakIm * re[row]!) * scale
    for (let other = 0; other < 4; other++) {
      const toColumn = row * 4 + other
      re[COLUMN + other]! -= LEAK_RE[toColumn]! * rRe - LEAK_IM[toColumn]! * rIm
      im[COLUMN + other]! -= LEAK_RE[toColumn]! * rIm + LEAK_IM[toColumn]! * rRe
      const toRow = other * 4 + column
      re[other]! -= LEAK_RE[toRow]! * cRe + LEAK_IM[toRow]! * cIm
      im[other]! -= LEAK_RE[toRow]! * cIm - LEAK_IM[toRow]! * cRe
    }
  }

  /**
   * Difference between a tone's frequency and nominal, radians per sample, from its phase here and in the block
   * `before` this one.
   */
  deviation(tone: number, before: DtmfSpectrum): number {
    const re = this.re[tone]! * before.re[tone]! + this.im[tone]! * before.im[tone]!
    const im = this.im[tone]! * before.re[tone]! - this.re[tone]! * before.im[tone]!
    const turn = Math.atan2(im, re) - OMEGA[tone]! * DTMF_BLOCK
    return (turn - 2 * Math.PI * Math.round(turn / (2 * Math.PI))) / DTMF_BLOCK
  }

  #strongest(from: number): number {
    let best = 0
    for (let i = 1; i < 4; i++) if (this.magnitude(from + i) > this.magnitude(from + best)) best = i
    return best
  }
}

/** Share of a tone's power in its nominal bin when its frequency is `deviation` radians per sample off. */
export function shownOf(deviation: number): number {
  const half = deviation / 2
  if (Math.abs(half) < 1e-9) return 1
  const shown = Math.sin(DTMF_BLOCK * half) / (DTMF_BLOCK * Math.sin(half))
  return shown * shown
}

/** Nominal frequency of a tone, radians per sample. */
export function toneOmega(tone: number): number {
  return OMEGA[tone]!
}
