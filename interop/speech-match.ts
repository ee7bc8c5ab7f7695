import { readFileSync } from 'node:fs'
import { readWav } from '@parley/media'
import { type Resemblance, resemblance } from '@parley/phone/testing'

/** Least score of the same speech after a call; 0.9999 when every packet arrives in time, other speech scores 0.2 to 0.6. */
export const SAME_SPEECH = 0.9

/** Is the speech of one recording inside another? Both are paths of 8 kHz mono WAV files. */
export function matchSpeech(sent: string, received: string): Resemblance {
  return resemblance(readMonoWav(sent), readMonoWav(received))
}

/** Throws on a file that is not 8 kHz. */
export function readMonoWav(path: string): Int16Array {
  const { sampleRate, channels } = readWav(readFileSync(path))
  if (sampleRate !== 8000) throw new Error(`${path} has ${sampleRate} Hz, not 8000`)
  return channels[0]!
}
