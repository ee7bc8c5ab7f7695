import { WIDEBAND } from '@parley/kernel'
import type { AudioCodec, AudioDecoder, AudioEncoder } from './audio-codec.ts'

/**
 * ITU-T G.722 at 64 kbit/s (mode 1): 16 kHz audio, split by a quadrature mirror filter into two sub-bands of 8 kHz, each
 * coded by ADPCM, 6 bits for the lower and 2 for the higher. A byte holds two samples. Numbers and names are those of the
 * Recommendation (blocks 1 to 6 of sections 3 and 4); all arithmetic is on integers, as the Recommendation has it.
 */
export const G722: AudioCodec<'G722'> = {
  name: 'G722',
  payloadType: 9,
  // RFC 3551 section 4.5.2: an error of RFC 1890 that stayed; the timestamp counts pairs of samples.
  clockRate: 8000,
  format: WIDEBAND,
  createEncoder: () => new G722Encoder(),
  createDecoder: () => new G722Decoder(),
}

/** Length of the symmetric quadrature mirror filter (table 11). */
const QMF_TAPS = 24
/** Of the samples a filter keeps, those that its next window needs. */
const QMF_HISTORY = QMF_TAPS - 2
/** Pairs of samples that are filtered together. */
const CHUNK_PAIRS = 160

/** Decision levels of the 6-bit quantiser (table 14). */
const Q6 = Int32Array.of(
  ...[0, 35, 72, 110, 150, 190, 233, 276, 323, 370, 422, 473, 530, 587, 650],
  ...[714, 786, 858, 940, 1023, 1121, 1219, 1339, 1458, 1612, 1765, 1980, 2195, 2557, 2919],
)
/** Output codes of the 6-bit quantiser, for negative and for other differences: interval 1 is the smallest. */
const ILN = Int32Array.from({ length: 31 }, (_, i) => (i === 0 ? 0 : i < 3 ? 64 - i : 34 - i))
const ILP = Int32Array.from({ length: 31 }, (_, i) => (i === 0 ? 0 : 62 - i))
/** Inverse quantisers of 6, 4 and 2 bits (tables 15 to 17), scaled by 2^15. */
const QM6_MAGNITUDES = [
  ...[24808, 21904, 19008, 16704, 14984, 13512, 12280, 11192, 10232, 9360, 8576, 7856, 7192, 6576],
  ...[6000, 5456, 4944, 4464, 4008, 3576, 3168, 2776, 2400, 2032, 1688, 1360, 1040, 728],
]
const QM6 = Int32Array.of(
  ...[-136, -136, -136, -136],
  ...QM6_MAGNITUDES.map(level => -level),
  ...QM6_MAGNITUDES,
  ...[432, 136, -432, -136],
)
const QM4_MAGNITUDES = [20456, 12896, 8968, 6288, 4240, 2584, 1200]
const QM4 = Int32Array.of(0, ...QM4_MAGNITUDES.map(level => -level), ...QM4_MAGNITUDES, 0)
const QM2 = Int32Array.of(-7408, -1616, 7408, 1616)
/** Adaptation of the scale factors (tables 18 and 19): log multipliers by code. */
const WL_BY_CODE = Int32Array.of(...[-60, 3042, 1198, 538, 334, 172, 58, -30, 3042, 1198, 538, 334, 172, 58, -30, -60])
const WH_BY_CODE = Int32Array.of(798, -214, 798, -214)
/** 2^(i/32) scaled by 2^11 (table 20). */
const ILB = Int32Array.of(
  ...[2048, 2093, 2139, 2186, 2233, 2282, 2332, 2383, 2435, 2489, 2543, 2599, 2656, 2714, 2774, 2834],
  ...[2896, 2960, 3025, 3091, 3158, 3228, 3298, 3371, 3444, 3520, 3597, 3676, 3756, 3838, 3922, 4008],
)

/** Decision level of the 2-bit quantiser. */
const Q2 = 564

/**
 * The sum of every other sample of a window, from `at` on, times the taps of one phase of the filter (table 11, scaled by
 * 2^13). The filter is symmetric: the taps of the other phase are the same in reverse. Unrolled, because this is half of
 * the codec's work.
 */
function evenTaps(x: Int32Array, at: number): number {
  return (
    (Math.imul(x[at]!, 3) +
      Math.imul(x[at + 2]!, -11) +
      Math.imul(x[at + 4]!, 12) +
      Math.imul(x[at + 6]!, 32) +
      Math.imul(x[at + 8]!, -210) +
      Math.imul(x[at + 10]!, 951) +
      Math.imul(x[at + 12]!, 3876) +
      Math.imul(x[at + 14]!, -805) +
      Math.imul(x[at + 16]!, 362) +
      Math.imul(x[at + 18]!, -156) +
      Math.imul(x[at + 20]!, 53) +
      Math.imul(x[at + 22]!, -11)) |
    0
  )
}

/** `evenTaps` in reverse. */
function oddTaps(x: Int32Array, at: number): number {
  return (
    (Math.imul(x[at]!, -11) +
      Math.imul(x[at + 2]!, 53) +
      Math.imul(x[at + 4]!, -156) +
      Math.imul(x[at + 6]!, 362) +
      Math.imul(x[at + 8]!, -805) +
      Math.imul(x[at + 10]!, 3876) +
      Math.imul(x[at + 12]!, 951) +
      Math.imul(x[at + 14]!, -210) +
      Math.imul(x[at + 16]!, 32) +
      Math.imul(x[at + 18]!, 12) +
      Math.imul(x[at + 20]!, -11) +
      Math.imul(x[at + 22]!, 3)) |
    0
  )
}

/** One sub-band's predictor and scale factor: the part that encoder and decoder share and that must never differ. */
class SubBand {
  /** Prediction of the next sample. */
  s = 0
  /** Scale factor. */
  det: number
  #nb = 0
  readonly #maxNb: number
  readonly #shift: number
  #sz = 0
  #a1 = 0
  #a2 = 0
  /** The last two reconstructed signals, doubled. */
  #r1 = 0
  #r2 = 0
  #p1 = 0
  #p2 = 0
  /** Coefficients of the six zeros. */
  #b1 = 0
  #b2 = 0
  #b3 = 0
  #b4 = 0
  #b5 = 0
  #b6 = 0
  /** The last six quantised differences, doubled, the newest first. */
  #d1 = 0
  #d2 = 0
  #d3 = 0
  #d4 = 0
  #d5 = 0
  #d6 = 0

  constructor(det: number, maxNb: number, shift: number) {
    this.det = det
    this.#maxNb = maxNb
    this.#shift = shift
  }

  /** Blocks 3L and 3H: logarithm and linear value of the scale factor. */
  scale(w: number): void {
    const next = (Math.imul(this.#nb, 127) >> 7) + w
    const nb = next < 0 ? 0 : next > this.#maxNb ? this.#maxNb : next
    this.#nb = nb
    const shift = this.#shift - (nb >> 11)
    const level = ILB[(nb >> 6) & 31]!
    this.det = (shift < 0 ? level << -shift : level >> shift) << 2
  }

  /** Blocks 4L and 4H: takes the quantised difference, adapts poles and zeros, predicts the next sample. */
  predict(d: number): void {
    const r = saturate(this.s + d)
    const p = saturate(this.#sz + d)
    this.#adaptPoles(p)
    this.#adaptZeros(d)
    this.#r2 = this.#r1
    this.#r1 = saturate(r + r)
    this.#p2 = this.#p1
    this.#p1 = p
    const sp = saturate((Math.imul(this.#a1, this.#r1) >> 15) + (Math.imul(this.#a2, this.#r2) >> 15))
    this.s = saturate(sp + this.#sz)
  }

  #adaptPoles(p: number): void {
    const sign = p >> 15
    const isSameAsLast = sign === this.#p1 >> 15
    const a1Times4 = saturate(this.#a1 << 2)
    const turned = isSameAsLast ? -a1Times4 : a1Times4
    const step = (turned > 32767 ? 32767 : turned) >> 7
    const a2 = (sign === this.#p2 >> 15 ? 128 : -128) + step + (Math.imul(this.#a2, 32512) >> 15)
    this.#a2 = a2 > 12288 ? 12288 : a2 < -12288 ? -12288 : a2
    const a1 = saturate((isSameAsLast ? 192 : -192) + (Math.imul(this.#a1, 32640) >> 15))
    const limit = saturate(15360 - this.#a2)
    this.#a1 = a1 > limit ? limit : a1 < -limit ? -limit : a1
  }

  /** Also the next contribution of the zeros, from the differences as they stand then. */
  #adaptZeros(d: number): void {
    const step = d === 0 ? 0 : 128
    const sign = d >> 15
    this.#b1 = adaptedZero(this.#b1, step, sign ^ (this.#d1 >> 15))
    this.#b2 = adaptedZero(this.#b2, step, sign ^ (this.#d2 >> 15))
    this.#b3 = adaptedZero(this.#b3, step, sign ^ (this.#d3 >> 15))
    this.#b4 = adaptedZero(this.#b4, step, sign ^ (this.#d4 >> 15))
    this.#b5 = adaptedZero(this.#b5, step, sign ^ (this.#d5 >> 15))
    this.#b6 = adaptedZero(this.#b6, step, sign ^ (this.#d6 >> 15))
    this.#d6 = this.#d5
    this.#d5 = this.#d4
    this.#d4 = this.#d3
    this.#d3 = this.#d2
    this.#d2 = this.#d1
    this.#d1 = saturate(d + d)
    this.#sz = saturate(
      (Math.imul(this.#b1, this.#d1) >> 15) +
        (Math.imul(this.#b2, this.#d2) >> 15) +
        (Math.imul(this.#b3, this.#d3) >> 15) +
        (Math.imul(this.#b4, this.#d4) >> 15) +
        (Math.imul(this.#b5, this.#d5) >> 15) +
        (Math.imul(this.#b6, this.#d6) >> 15),
    )
  }
}

/**
 * A coefficient after the leak of 1/256 and one step: up where the signs are the same (`differs` 0), down where they are
 * not (-1). It cannot leave 16 bits: at 32767 the leak takes away as much as the step adds.
 */
function adaptedZero(b: number, step: number, differs: number): number {
  return ((step ^ differs) - differs + (Math.imul(b, 32640) >> 15)) | 0
}

const lowerBand = () => new SubBand(32, 18432, 8)
const higherBand = () => new SubBand(8, 22528, 10)

class G722Encoder implements AudioEncoder {
  readonly #low = lowerBand()
  readonly #high = higherBand()
  /** The samples that the next window begins with, then those of a chunk. */
  readonly #x = new Int32Array(QMF_HISTORY + 2 * CHUNK_PAIRS)

  encode(src: Int16Array, srcOffset: number, count: number, dst: Uint8Array, dstOffset: number): number {
    const pairs = Math.max(0, Math.min(count >> 1, (src.length - srcOffset) >> 1, dst.length - dstOffset))
    for (let done = 0; done < pairs; done += CHUNK_PAIRS) {
      this.#chunk(src, srcOffset + 2 * done, Math.min(CHUNK_PAIRS, pairs - done), dst, dstOffset + done)
    }
    return pairs
  }

  #chunk(src: Int16Array, srcOffset: number, pairs: number, dst: Uint8Array, dstOffset: number): void {
    const x = this.#x
    for (let i = 0; i < 2 * pairs; i++) x[QMF_HISTORY + i] = src[srcOffset + i]!
    for (let i = 0; i < pairs; i++) {
      const odd = evenTaps(x, 2 * i)
      const even = oddTaps(x, 2 * i + 1)
      dst[dstOffset + i] = (this.#codeHigh((even - odd) >> 14) << 6) | this.#codeLow((even + odd) >> 14)
    }
    x.copyWithin(0, 2 * pairs, 2 * pairs + QMF_HISTORY)
  }

  #codeLow(x: number): number {
    const band = this.#low
    const difference = saturate(x - band.s)
    const interval = intervalOf(difference >= 0 ? difference : -(difference + 1), band.det)
    const code = difference < 0 ? ILN[interval]! : ILP[interval]!
    const d = Math.imul(band.det, QM4[code >> 2]!) >> 15
    band.scale(WL_BY_CODE[code >> 2]!)
    band.predict(d)
    return code
  }

  #codeHigh(x: number): number {
    const band = this.#high
    const difference = saturate(x - band.s)
    const magnitude = difference >= 0 ? difference : -(difference + 1)
    const isLarge = magnitude >= Math.imul(Q2, band.det) >> 12
    const code = difference < 0 ? (isLarge ? 0 : 1) : isLarge ? 2 : 3
    const d = Math.imul(band.det, QM2[code]!) >> 15
    band.scale(WH_BY_CODE[code]!)
    band.predict(d)
    return code
  }
}

/** The first interval of the 6-bit quantiser, 1 to 30, whose decision level is above `magnitude`; levels rise, so it halves. */
function intervalOf(magnitude: number, det: number): number {
  let first = 1
  let last = 30
  while (first < last) {
    const middle = (first + last) >> 1
    if (magnitude >= Math.imul(Q6[middle]!, det) >> 12) first = middle + 1
    else last = middle
  }
  return first
}

class G722Decoder implements AudioDecoder {
  readonly #low = lowerBand()
  readonly #high = higherBand()
  /** Sums and differences of pairs of sub-band samples: those that the next window begins with, then those of a chunk. */
  readonly #x = new Int32Array(QMF_HISTORY + 2 * CHUNK_PAIRS)

  decode(src: Uint8Array, srcOffset: number, count: number, dst: Int16Array, dstOffset: number): number {
    const bytes = Math.max(0, Math.min(count, src.length - srcOffset, (dst.length - dstOffset) >> 1))
    for (let done = 0; done < bytes; done += CHUNK_PAIRS) {
      this.#chunk(src, srcOffset + done, Math.min(CHUNK_PAIRS, bytes - done), dst, dstOffset + 2 * done)
    }
    return 2 * bytes
  }

  #chunk(src: Uint8Array, srcOffset: number, bytes: number, dst: Int16Array, dstOffset: number): void {
    const x = this.#x
    for (let i = 0; i < bytes; i++) this.#byte(src[srcOffset + i]!, QMF_HISTORY + 2 * i)
    for (let i = 0; i < bytes; i++) {
      dst[dstOffset + 2 * i] = saturate(oddTaps(x, 2 * i + 1) >> 11)
      dst[dstOffset + 2 * i + 1] = saturate(evenTaps(x, 2 * i) >> 11)
    }
    x.copyWithin(0, 2 * bytes, 2 * bytes + QMF_HISTORY)
  }

  /** Decodes both sub-bands of a byte to `#x`. */
  #byte(code: number, at: number): void {
    const low = this.#low
    const high = this.#high
    const lowCode = code & 0x3f
    const highCode = code >> 6
    const rlow = limit15(low.s + (Math.imul(low.det, QM6[lowCode]!) >> 15))
    const dlow = Math.imul(low.det, QM4[lowCode >> 2]!) >> 15
    low.scale(WL_BY_CODE[lowCode >> 2]!)
    low.predict(dlow)
    const dhigh = Math.imul(high.det, QM2[highCode]!) >> 15
    const rhigh = limit15(high.s + dhigh)
    high.scale(WH_BY_CODE[highCode]!)
    high.predict(dhigh)
    this.#x[at] = rlow + rhigh
    this.#x[at + 1] = rlow - rhigh
  }
}

function saturate(value: number): number {
  return value > 32767 ? 32767 : value < -32768 ? -32768 : value
}

function limit15(value: number): number {
  return value > 16383 ? 16383 : value < -16384 ? -16384 : value
}
