import type { Samples } from '@parley/kernel'
import { CARRIER_COS, CARRIER_PERIOD, CARRIER_SIN, PULSE, PULSE_HALF, SYMBOL } from './tone-line.ts'

/** Peak amplitude per root mean square of a frame. */
const PEAK_FOR_RMS = Math.sqrt(2 * SYMBOL)

/**
 * Adds the tones of a frame to `audio`, with the middle of the first symbol at `at`. `rms` is their root mean square
 * during the frame, in sample units. Parts outside of `audio` are dropped.
 */
export function addTones(audio: Float32Array, at: Samples, symbols: Float32Array, rms: number): void {
  const gain = rms * PEAK_FOR_RMS
  for (let k = 0; 2 * k < symbols.length; k++) {
    const re = symbols[2 * k]! * gain
    const im = symbols[2 * k + 1]! * gain
    const first = at + SYMBOL * k - PULSE_HALF
    const until = Math.min(PULSE.length, audio.length - first)
    for (let i = Math.max(0, -first); i < until; i++) {
      const phase = (first + i) % CARRIER_PERIOD
      audio[first + i]! += PULSE[i]! * (re * CARRIER_COS[phase]! - im * CARRIER_SIN[phase]!)
    }
  }
}
