import { LowPassFilter } from '@parley/media'
import { SPEECH_PASS_HZ, TONE_BAND_HZ } from './tone-line.ts'

/** The band of the speech on a line whose words travel as tones above it (decision 0015). */
const SPEECH_BAND = { passHz: SPEECH_PASS_HZ, stopHz: TONE_BAND_HZ, stopbandDb: 55 }

/**
 * Takes the words' tones out of 8 kHz audio (linear phase; passes 2550 Hz, 55 dB down from 2880 Hz), so that voice
 * activity judges the speech alone.
 */
export function toneBandFilter(): LowPassFilter {
  return new LowPassFilter(SPEECH_BAND)
}

/** The band in which voice activity finds the speech on a call that the recogniser `id` listens to; undefined: all of it. */
export function speechBandOf(id: string): typeof SPEECH_BAND | undefined {
  return id === 'simulated/tones-1' ? SPEECH_BAND : undefined
}
