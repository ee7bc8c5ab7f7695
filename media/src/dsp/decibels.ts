const LN2_HIGH = 0.6931471803691238
const LN2_LOW = 1.9082149292705877e-10
/** Coefficients of the even part of ln((1 + s) / (1 - s)) / s - 2 in powers of s squared (fdlibm, e_log.c). */
const C1 = 0.6666666666666735
const C2 = 0.3999999999940942
const C3 = 0.2857142874366239
const C4 = 0.22222198432149784
const C5 = 0.1818357216161805
const C6 = 0.15313837699209373
const C7 = 0.14798198605116586
const TEN_OVER_LN10 = 4.342944819032518
const SQRT2 = Math.SQRT2

const double = new Float64Array(1)
/** The words of `double`, the lower one first: all machines that Node runs on are little-endian. */
const halves = new Int32Array(double.buffer)

/**
 * 10 log10(`power`) of a normal number above 0, to 2 units in the last place. Unlike `Math.log10`, whose last bits differ from
 * processor to processor, it uses operations alone that IEEE 754 defines to the bit, so that the native media path (`decibels`
 * in `media/native/voice.cc`) finds the same.
 */
export function decibels(power: number): number {
  double[0] = power
  const high = halves[1]!
  let exponent = (high >> 20) - 1023
  halves[1] = (high & 0xf_ffff) | 0x3ff0_0000
  let mantissa = double[0]
  if (mantissa > SQRT2) {
    mantissa *= 0.5
    exponent++
  }
  const f = mantissa - 1
  const s = f / (2 + f)
  const z = s * s
  const w = z * z
  const even = w * (C2 + w * (C4 + w * C6))
  const odd = z * (C1 + w * (C3 + w * (C5 + w * C7)))
  const half = 0.5 * f * f
  const ln = exponent * LN2_HIGH - (half - (s * (half + (odd + even)) + exponent * LN2_LOW) - f)
  return TEN_OVER_LN10 * ln
}
