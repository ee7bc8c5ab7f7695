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

/** Half of the symmetric 24-tap filter (table 11), scaled by 2^13. */
const QMF = Int32Array.of(3, -11, 12, 32, -210, 951, 3876, -805, 362, -156, 53, -11)
const QMF_TAPS = 24

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

/** One sub-band's predictor and scale factor: the part that encoder and decoder share and that must never differ. */
class SubBand {
  /** Prediction of the next sample. */
  s = 0
  /** Scale factor. */
  det: number
  #nb = 0
  readonly #mostNb: number
  readonly #shift: number
  #sz = 0
  #a1 = 0
  #a2 = 0
  #r1 = 0
  #r2 = 0
  #p1 = 0
  #p2 = 0
  /** Of the six zeros: coefficients, and the last quantised differences, the newest first. */
  readonly #b = new Int32Array(6)
  readonly #d = new Int32Array(6)

  constructor(det: number, mostNb: number, shift: number) {
    this.det = det
    this.#mostNb = mostNb
    this.#shift = shift
  }

  /** Blocks 3L and 3H: logarithm and linear value of the scale factor. */
  scale(w: number): void {
    const nb = Math.max(0, Math.min(this.#mostNb, ((this.#nb * 127) >> 7) + w))
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
    this.#r1 = r
    this.#p2 = this.#p1
    this.#p1 = p
    const sp = saturate(
      ((this.#a1 * saturate(this.#r1 + this.#r1)) >> 15) + ((this.#a2 * saturate(this.#r2 + this.#r2)) >> 15),
    )
    this.s = saturate(sp + this.#sz)
  }

  #adaptPoles(p: number): void {
    const sign = p >> 15
    const sameAsLast = sign === this.#p1 >> 15
    const a1Times4 = saturate(this.#a1 << 2)
    const step = Math.min(32767, sameAsLast ? -a1Times4 : a1Times4) >> 7
    const a2 = (sign === this.#p2 >> 15 ? 128 : -128) + step + ((this.#a2 * 32512) >> 15)
    this.#a2 = Math.max(-12288, Math.min(12288, a2))
    const a1 = saturate((sameAsLast ? 192 : -192) + ((this.#a1 * 32640) >> 15))
    const limit = saturate(15360 - this.#a2)
    this.#a1 = Math.max(-limit, Math.min(limit, a1))
  }

  /** Also the next contribution of the zeros, from the differences as they stand then. */
  #adaptZeros(d: number): void {
    const b = this.#b
    const past = this.#d
    const step = d === 0 ? 0 : 128
    const sign = d >> 15
    for (let i = 0; i < 6; i++) {
      b[i] = saturate((past[i]! >> 15 === sign ? step : -step) + ((b[i]! * 32640) >> 15))
    }
    past.copyWithin(1, 0, 5)
    past[0] = d
    let sz = 0
    for (let i = 5; i >= 0; i--) sz += (b[i]! * saturate(past[i]! + past[i]!)) >> 15
    this.#sz = saturate(sz)
  }
}

const lowerBand = () => new SubBand(32, 18432, 8)
const higherBand = () => new SubBand(8, 22528, 10)

class G722Encoder implements AudioEncoder {
  readonly #low = lowerBand()
  readonly #high = higherBand()
  /** The last 24 samples, stored twice, so that the filter's window is always contiguous. */
  readonly #x = new Int32Array(2 * QMF_TAPS)
  #at = 0

  encode(src: Int16Array, srcOffset: number, count: number, dst: Uint8Array, dstOffset: number): number {
    const pairs = Math.max(0, Math.min(count >> 1, (src.length - srcOffset) >> 1, dst.length - dstOffset))
    for (let i = 0; i < pairs; i++) {
      dst[dstOffset + i] = this.#pair(src[srcOffset + 2 * i]!, src[srcOffset + 2 * i + 1]!)
    }
    return pairs
  }

  #pair(first: number, second: number): number {
    const x = this.#x
    x[this.#at] = first
    x[this.#at + QMF_TAPS] = first
    x[this.#at + 1] = second
    x[this.#at + 1 + QMF_TAPS] = second
    this.#at = (this.#at + 2) % QMF_TAPS
    let odd = 0
    let even = 0
    for (let i = 0; i < 12; i++) {
      odd += x[this.#at + 2 * i]! * QMF[i]!
      even += x[this.#at + 2 * i + 1]! * QMF[11 - i]!
    }
    return (this.#codeHigh((even - odd) >> 14) << 6) | this.#codeLow((even + odd) >> 14)
  }

  #codeLow(x: number): number {
    const band = this.#low
    const difference = saturate(x - band.s)
    const magnitude = difference >= 0 ? difference : -(difference + 1)
    let interval = 1
    while (interval < 30 && magnitude >= (Q6[interval]! * band.det) >> 12) interval++
    const code = difference < 0 ? ILN[interval]! : ILP[interval]!
    const d = (band.det * QM4[code >> 2]!) >> 15
    band.scale(WL_BY_CODE[code >> 2]!)
    band.predict(d)
    return code
  }

  #codeHigh(x: number): number {
    const band = this.#high
    const difference = saturate(x - band.s)
    const magnitude = difference >= 0 ? difference : -(difference + 1)
    const isLarge = magnitude >= (Q2 * band.det) >> 12
    const code = difference < 0 ? (isLarge ? 0 : 1) : isLarge ? 2 : 3
    const d = (band.det * QM2[code]!) >> 15
    band.scale(WH_BY_CODE[code]!)
    band.predict(d)
    return code
  }
}

class G722Decoder implements AudioDecoder {
  readonly #low = lowerBand()
  readonly #high = higherBand()
  /** Sums and differences of the last 12 pairs of sub-band samples, stored twice. */
  readonly #x = new Int32Array(2 * QMF_TAPS)
  #at = 0

  decode(src: Uint8Array, srcOffset: number, count: number, dst: Int16Array, dstOffset: number): number {
    const bytes = Math.max(0, Math.min(count, src.length - srcOffset, (dst.length - dstOffset) >> 1))
    for (let i = 0; i < bytes; i++) this.#byte(src[srcOffset + i]!, dst, dstOffset + 2 * i)
    return 2 * bytes
  }

  #byte(code: number, dst: Int16Array, at: number): void {
    const low = this.#low
    const high = this.#high
    const lowCode = code & 0x3f
    const highCode = code >> 6
    const rlow = limit15(low.s + ((low.det * QM6[lowCode]!) >> 15))
    const dlow = (low.det * QM4[lowCode >> 2]!) >> 15
    low.scale(WL_BY_CODE[lowCode >> 2]!)
    low.predict(dlow)
    const dhigh = (high.det * QM2[highCode]!) >> 15
    const rhigh = limit15(high.s + dhigh)
    high.scale(WH_BY_CODE[highCode]!)
    high.predict(dhigh)
    this.#join(rlow, rhigh, dst, at)
  }

  #join(rlow: number, rhigh: number, dst: Int16Array, at: number): void {
    const x = this.#x
    x[this.#at] = rlow + rhigh
    x[this.#at + QMF_TAPS] = rlow + rhigh
    x[this.#at + 1] = rlow - rhigh
    x[this.#at + 1 + QMF_TAPS] = rlow - rhigh
    this.#at = (this.#at + 2) % QMF_TAPS
    let first = 0
    let second = 0
    for (let i = 0; i < 12; i++) {
      first += x[this.#at + 2 * i + 1]! * QMF[11 - i]!
      second += x[this.#at + 2 * i]! * QMF[i]!
    }
    dst[at] = saturate(first >> 11)
    dst[at + 1] = saturate(second >> 11)
  }
}

function saturate(value: number): number {
  return value > 32767 ? 32767 : value < -32768 ? -32768 : value
}

function limit15(value: number): number {
  return value > 16383 ? 16383 : value < -16384 ? -16384 : value
}
