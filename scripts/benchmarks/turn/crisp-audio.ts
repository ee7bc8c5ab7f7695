import { toneBandFilter } from '@parley/providers/testing'
import { AUDIBLE_PEAK } from './turn-meter.ts'

/** Peak of a sample that is audible on the network for certain; tones and mu-law reduce it a little. */
const SURELY_AUDIBLE = 1.25 * AUDIBLE_PEAK

/**
 * A rendering with an exact end: its speech stops at its last audible sample instead of fading out. The tones that encode the
 * words continue, so that the words stay complete. Throws if nothing is audible.
 */
export function crispEnd(rendering: Int16Array): Int16Array {
  const speech = speechOf(rendering)
  const last = rendering.findLastIndex((sample, i) => isAudible(sample) && isAudible(speech[i]!))
  if (last < 0) throw new Error('nothing in this audio is audible')
  return rendering.map((sample, i) => (i <= last ? sample : sample - speech[i]!))
}

/**
 * Like `crispEnd`, for an engine that does not remove the tones and whose voice activity counts them as voice: the last sound of
 * the speech is repeated until the last tone ends, so that both stop at once.
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

/** Amplitude below which a tone has ended. */
const FAINT = 60
/** Length of the repeated sound: the last 10 ms. */
const SOUND = 80

/** `rendering` from its first audible sample on; all of it if nothing is audible. */
export function crispStart(rendering: Int16Array): Int16Array {
  return rendering.subarray(Math.max(0, rendering.findIndex(isAudible)))
}

function isAudible(sample: number): boolean {
  return Math.abs(sample) >= SURELY_AUDIBLE
}

/** The rendering without its tones, in its position. */
function speechOf(rendering: Int16Array): Int16Array {
  const filter = toneBandFilter()
  const padded = new Int16Array(rendering.length + filter.delay)
  padded.set(rendering)
  filter.filter(padded, 0, padded.length, padded, 0)
  return padded.subarray(filter.delay)
}
