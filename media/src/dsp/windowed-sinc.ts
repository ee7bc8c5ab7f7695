export function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x)
}

/** Modified Bessel function of the first kind, order zero, by its power series. */
export function bessel0(x: number): number {
  let sum = 1
  let term = 1
  for (let k = 1; term > sum * 1e-12; k++) {
    term *= (x / (2 * k)) ** 2
    sum += term
  }
  return sum
}

export interface LowPassDesign {
  /** Frequencies up to here pass. */
  readonly passHz: number
  /** Frequencies from here on are attenuated by at least `stopbandDb`. */
  readonly stopHz: number
  /** dB, more than 50. */
  readonly stopbandDb: number
  /** Default 8000. */
  readonly sampleRateHz?: number
}

/**
 * Coefficients of a linear-phase low-pass (Kaiser-windowed sinc). Their number is odd: the delay is half of it, rounded
 * down.
 */
export function lowPass({ passHz, stopHz, stopbandDb, sampleRateHz = 8000 }: LowPassDesign): Float64Array {
  const width = (2 * Math.PI * (stopHz - passHz)) / sampleRateHz
  const half = Math.ceil((stopbandDb - 7.95) / (2.285 * width) / 2)
  const beta = 0.1102 * (stopbandDb - 8.7)
  const cutoff = (passHz + stopHz) / sampleRateHz
  const taps = Float64Array.from({ length: 2 * half + 1 }, (_, i) => {
    const inside = 1 - ((i - half) / (half + 1)) ** 2
    return sinc(cutoff * (i - half)) * bessel0(beta * Math.sqrt(inside))
  })
  const gain = taps.reduce((sum, tap) => sum + tap, 0)
  return taps.map(tap => tap / gain)
}
