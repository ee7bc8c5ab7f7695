import { lowPass } from '../signal/windowed-sinc.ts'
import type { SpeechFilter } from '../speech-to-text/speech-to-text.ts'
import { SPEECH_PASS_HZ, TONE_BAND_HZ } from './tone-line.ts'

const TAPS = lowPass(SPEECH_PASS_HZ, TONE_BAND_HZ, 55)
const HALF = TAPS.length >> 1

/**
 * Takes the words' tones out of 8 kHz audio (linear phase; passes 2550 Hz, 55 dB down from 2880 Hz), so that voice
 * activity, endpointing, barge-in and answer detection judge the speech alone.
 */
export function toneBandFilter(): SpeechFilter {
  // Everything twice, so that the window is always in one piece.
  const recent = new Float64Array(2 * TAPS.length)
  let next = 0
  return {
    delay: HALF,
    filter(audio, offset, count, into, intoOffset) {
      for (let i = 0; i < count; i++) {
        recent[next] = audio[offset + i]!
        recent[next + TAPS.length] = audio[offset + i]!
        next = next + 1 === TAPS.length ? 0 : next + 1
        let sum = TAPS[HALF]! * recent[next + HALF]!
        const last = next + TAPS.length - 1
        for (let k = 0; k < HALF; k++) sum += TAPS[k]! * (recent[next + k]! + recent[last - k]!)
        into[intoOffset + i] = Math.max(-32_768, Math.min(32_767, Math.round(sum)))
      }
    },
    reset() {
      recent.fill(0)
      next = 0
    },
  }
}
