import { toneBandFilter } from '@parley/providers'
import { AUDIBLE_PEAK } from './turn-meter.ts'

/** What is to count as audible on the wire is louder than it has to be: tones and mu-law take a little away. */
const SURELY_AUDIBLE = 1.25 * AUDIBLE_PEAK

/**
 * `rendering` of a voice with words in tones, so that a stopwatch can be pressed at the end of its speech: what fades out
 * below the audible is left out of the speech. Its tones go on: the words stay whole. Throws when nothing is audible.
 */
export function crispEnd(rendering: Int16Array): Int16Array {
  const speech = speechOf(rendering)
  const last = rendering.findLastIndex((sample, i) => isAudible(sample) && isAudible(speech[i]!))
  if (last < 0) throw new Error('nothing in this audio is audible')
  return rendering.map((sample, i) => (i <= last ? sample : sample - speech[i]!))
}

/** `rendering` from its first audible sample on; all of it when there is none. */
export function crispStart(rendering: Int16Array): Int16Array {
  return rendering.subarray(Math.max(0, rendering.findIndex(isAudible)))
}

function isAudible(sample: number): boolean {
  return Math.abs(sample) >= SURELY_AUDIBLE
}

/** What of it is not tones, in its place. */
function speechOf(rendering: Int16Array): Int16Array {
  const filter = toneBandFilter()
  const padded = new Int16Array(rendering.length + filter.delay)
  padded.set(rendering)
  filter.filter(padded, 0, padded.length, padded, 0)
  return padded.subarray(filter.delay)
}
