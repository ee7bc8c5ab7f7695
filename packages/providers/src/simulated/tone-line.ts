import { NARROWBAND, type Samples } from '@parley/kernel'

/**
 * The tones of words: 400 symbols per second on a carrier of 3150 Hz, shaped to 2900 to 3400 Hz (root raised cosine,
 * roll-off 0.25), which is within the telephone band and above what a listener needs.
 */
export const SYMBOL: Samples = 20
const CARRIER_HZ = 3150
const ROLL_OFF = 0.25
/** Length of a pulse to each side, in symbols. */
const PULSE_REACH = 4
export const PULSE_HALF: Samples = PULSE_REACH * SYMBOL

/** Distance between two frames: pulses extend beyond the ends of their frame. */
export const BETWEEN_FRAMES: Samples = 2 * SYMBOL
/** Longest distance between the frames of one word. */
export const MAX_GAP_IN_WORD: Samples = BETWEEN_FRAMES + SYMBOL

/** The speech is low-passed below the tones: passed up to the first frequency, removed from the second. */
export const SPEECH_PASS_HZ = 2550
export const TONE_BAND_HZ = 2880

/** One pulse of energy 1 with its middle at PULSE_HALF: filtering it with itself yields 1 at the middle. */
export const PULSE = unitEnergy(
  Float64Array.from({ length: 2 * PULSE_HALF + 1 }, (_, i) => rootRaisedCosine((i - PULSE_HALF) / SYMBOL)),
)

/** Period of the carrier in samples. */
export const CARRIER_PERIOD: Samples = 160
export const CARRIER_COS = carrier(Math.cos)
export const CARRIER_SIN = carrier(Math.sin)

function carrier(wave: (angle: number) => number): Float64Array {
  return Float64Array.from({ length: CARRIER_PERIOD }, (_, n) =>
    wave((2 * Math.PI * CARRIER_HZ * n) / NARROWBAND.sampleRateHz),
  )
}

function rootRaisedCosine(t: number): number {
  const a = ROLL_OFF
  if (t === 0) return 1 - a + (4 * a) / Math.PI
  if (Math.abs(Math.abs(t) - 1 / (4 * a)) < 1e-9) {
    const angle = Math.PI / (4 * a)
    return (a / Math.SQRT2) * ((1 + 2 / Math.PI) * Math.sin(angle) + (1 - 2 / Math.PI) * Math.cos(angle))
  }
  const swing = Math.sin(Math.PI * t * (1 - a)) + 4 * a * t * Math.cos(Math.PI * t * (1 + a))
  return swing / (Math.PI * t * (1 - (4 * a * t) ** 2))
}

function unitEnergy(taps: Float64Array): Float64Array {
  const energy = taps.reduce((sum, tap) => sum + tap * tap, 0)
  return taps.map(tap => tap / Math.sqrt(energy))
}
