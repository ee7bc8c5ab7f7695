import type { Samples } from '@parley/kernel'
import { lowPass } from '@parley/media'
import { activeLevel, alignWords, firstSound, type SpokenWord } from './alignment.ts'
import { addTones } from './modulator.ts'
import { BETWEEN_FRAMES, PULSE_HALF, SPEECH_PASS_HZ, SYMBOL, TONE_BAND_HZ } from './tone-line.ts'
import { framesOfWord } from './word-frame.ts'

/** Level of the tones below the speech's active level, dB. */
const TONES_BELOW_SPEECH_DB = 27
/** Least level of tones for very quiet speech: above the quantisation steps of mu-law. */
const MIN_TONE_RMS = 40

/** Silence before the first sound that remains: 30 ms. */
const LEAD_IN: Samples = 240
/** Tones of a long number end at most this long (400 ms) before its speech, so that no word is recognised before it is spoken. */
const MAX_AHEAD: Samples = 3200

const SPEECH_FILTER = lowPass({ passHz: SPEECH_PASS_HZ, stopHz: TONE_BAND_HZ, stopbandDb: 60 })

export interface Rendering {
  /** The speech below the tone band and the tones of its words above; longer than the speech when the tones need more time. */
  readonly samples: Int16Array
  readonly words: readonly SpokenWord[]
}

/** Adds the words of `text` as tones to `spoken`, which is speech of `text`. Each word begins with its speech, or after the word before. */
export function renderWithTones(spoken: Int16Array, text: string): Rendering {
  const speech = spoken.subarray(Math.max(0, firstSound(spoken) - LEAD_IN))
  const words = alignWords(text, speech)
  const frames: { at: Samples; symbols: Float32Array }[] = []
  let free = PULSE_HALF
  for (const { text: word, startSample, endSample } of words) {
    const pieces = framesOfWord(word)
    const length = pieces.reduce((sum, symbols) => sum + (symbols.length / 2) * SYMBOL + BETWEEN_FRAMES, 0)
    free = Math.max(free, startSample, endSample - MAX_AHEAD - length)
    for (const symbols of pieces) {
      frames.push({ at: free, symbols })
      free += (symbols.length / 2) * SYMBOL + BETWEEN_FRAMES
    }
  }
  const audio = new Float32Array(Math.max(speech.length, frames.length === 0 ? 0 : free + PULSE_HALF))
  filterInto(audio, speech)
  const level = Math.max(MIN_TONE_RMS, activeLevel(speech) * 10 ** (-TONES_BELOW_SPEECH_DB / 20))
  for (const { at, symbols } of frames) addTones(audio, at, symbols, level)
  const samples = new Int16Array(audio.length)
  for (let i = 0; i < audio.length; i++) samples[i] = Math.max(-32_768, Math.min(32_767, Math.round(audio[i]!)))
  return { samples, words }
}

/** Writes the low-passed speech to `audio`, without delay. */
function filterInto(audio: Float32Array, speech: Int16Array): void {
  const half = SPEECH_FILTER.length >> 1
  const padded = new Float64Array(speech.length + 2 * half)
  padded.set(speech, half)
  for (let n = 0; n < speech.length; n++) {
    let sum = SPEECH_FILTER[half]! * padded[n + half]!
    for (let k = 0; k < half; k++) sum += SPEECH_FILTER[k]! * (padded[n + k]! + padded[n + 2 * half - k]!)
    audio[n] = sum
  }
}
