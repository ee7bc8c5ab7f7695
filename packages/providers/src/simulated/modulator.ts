import type { Samples } from '@parley/kernel'
import { CARRIER_COS, CARRIER_PERIOD, CARRIER_SIN, PULSE, PULSE_HALF, SYMBOL } from './tone-line.ts'

/** Tones of that level: root mean square while a frame lasts is `rms`. */
const PEAK_FOR_RMS = Math.sqrt(2 * SYMBOL)

/**
 * Adds a frame's tones to `audio`: the middle of its first symbol at `at`. Their level while it lasts is `rms`, in
 * units of a sample. What would lie outside of `audio` is cut off.
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
