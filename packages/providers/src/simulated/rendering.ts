import { type AudioFormat, NARROWBAND, type Samples } from '@parley/kernel'
import { lowPass, resample } from '@parley/media'
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

/** Speech of wideband calls keeps what is above the telephone band, where no tone is. */
const TELEPHONE_BAND_HZ = 4000
const HIGH_BAND_PASS_HZ = 4600

export interface Rendering {
  /** The speech below the tone band and the tones of its words above; longer than the speech when the tones need more time. */
  readonly samples: Int16Array
  /** With positions at 8 kHz, whatever the format of `samples` is. */
  readonly words: readonly SpokenWord[]
}

/**
 * Adds the words of `text` as tones to `spoken`, which is speech of `text` in `format`. Each word begins with its speech,
 * or after the word before.
 */
export function renderWithTones(spoken: Int16Array, text: string, format: AudioFormat = NARROWBAND): Rendering {
  const { sampleRateHz } = format
  if (sampleRateHz === NARROWBAND.sampleRateHz) return renderNarrowband(spoken, text).rendering
  const { rendering, from } = renderNarrowband(resample(spoken, sampleRateHz, NARROWBAND.sampleRateHz), text)
  const samples = resample(rendering.samples, NARROWBAND.sampleRateHz, sampleRateHz)
  addHighBand(samples, spoken.subarray((from * sampleRateHz) / NARROWBAND.sampleRateHz), sampleRateHz)
  return { samples, words: rendering.words }
}

/** `from`: position in `spoken` at which the rendering begins. */
function renderNarrowband(spoken: Int16Array, text: string): { rendering: Rendering; from: Samples } {
  const from = Math.max(0, firstSound(spoken) - LEAD_IN)
  const speech = spoken.subarray(from)
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
  filterInto(audio, speech, SPEECH_FILTER)
  const level = Math.max(MIN_TONE_RMS, activeLevel(speech) * 10 ** (-TONES_BELOW_SPEECH_DB / 20))
  for (const { at, symbols } of frames) addTones(audio, at, symbols, level)
  const samples = new Int16Array(audio.length)
  for (let i = 0; i < audio.length; i++) samples[i] = clipped(audio[i]!)
  return { rendering: { samples, words }, from }
}

/** Adds what `speech` has above the telephone band to `samples`. */
function addHighBand(samples: Int16Array, speech: Int16Array, sampleRateHz: number): void {
  const low = new Float32Array(speech.length)
  filterInto(
    low,
    speech,
    lowPass({ passHz: TELEPHONE_BAND_HZ, stopHz: HIGH_BAND_PASS_HZ, stopbandDb: 60, sampleRateHz }),
  )
  const count = Math.min(samples.length, speech.length)
  for (let i = 0; i < count; i++) samples[i] = clipped(samples[i]! + speech[i]! - low[i]!)
}

function clipped(value: number): number {
  return Math.max(-32_768, Math.min(32_767, Math.round(value)))
}

/** Writes the low-passed speech to `audio`, without delay. */
function filterInto(audio: Float32Array, speech: Int16Array, filter: Float64Array): void {
  const half = filter.length >> 1
  const padded = new Float64Array(speech.length + 2 * half)
  padded.set(speech, half)
  for (let n = 0; n < speech.length; n++) {
    let sum = filter[half]! * padded[n + half]!
    for (let k = 0; k < half; k++) sum += filter[k]! * (padded[n + k]! + padded[n + 2 * half - k]!)
    audio[n] = sum
  }
}
