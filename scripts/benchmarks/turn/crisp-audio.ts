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

/**
 * As `crispEnd` for an engine that does not know the tones, to whose voice activity they are voice as well: the last sound of
 * the speech goes on until the last tone is over, so that both stop at once.
 */
export function crispEndWithTones(rendering: Int16Array): Int16Array {
  const crisp = crispEnd(rendering)
  const speech = speechOf(crisp)
  const last = speech.findLastIndex(isAudible)
  const over = crisp.findLastIndex((sample, i) => Math.abs(sample - speech[i]!) >= FAINT)
  return crisp.map((sample, i) => {
    if (i <= last) return sample
    if (i > over) return 0
    const sound = speech[last - SOUND + 1 + ((i - last - 1) % SOUND)]!
    return Math.max(-32_768, Math.min(32_767, sample + sound))
  })
}

/** Tones below this are over. */
const FAINT = 60
/** What goes on: the last 10 ms. */
const SOUND = 80

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
