import { LowPassFilter } from '@parley/media'
import { SPEECH_PASS_HZ, TONE_BAND_HZ } from './tone-line.ts'

/** The band of the speech below the tones (decision 0015). */
export const SPEECH_BAND = { passHz: SPEECH_PASS_HZ, stopHz: TONE_BAND_HZ, stopbandDb: 55 }

/**
 * Removes the tones from 8 kHz audio (linear phase; passes 2550 Hz, 55 dB attenuation from 2880 Hz), so that voice activity
 * detection sees only the speech.
 */
export function toneBandFilter(): LowPassFilter {
  return new LowPassFilter(SPEECH_BAND)
}

/** The band for voice activity detection on a call with the recogniser `id`; undefined: the whole band. */
export function speechBandOf(id: string): typeof SPEECH_BAND | undefined {
  return id === 'simulated/tones-1' ? SPEECH_BAND : undefined
}
