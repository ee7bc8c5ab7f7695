import type { Samples } from '@parley/kernel'

/** 10 ms. */
const FRAME: Samples = 80
/** A frame is quiet when it is 30 dB below the speech's active level. */
const QUIET = 10 ** (-30 / 20)
/** Quiet this long inside a sentence is a pause; shorter is a closure inside a word. */
const PAUSE_FRAMES = 12

export interface SpokenWord {
  readonly text: string
  readonly startSample: Samples
  readonly endSample: Samples
}

/** Root mean square of the speech without its pauses. */
export function activeLevel(speech: Int16Array): number {
  const levels = frameLevels(speech)
  const peak = levels.reduce((most, level) => Math.max(most, level), 0)
  const active = levels.filter(level => level > peak * QUIET)
  return active.length === 0 ? 0 : Math.sqrt(active.reduce((sum, level) => sum + level * level, 0) / active.length)
}

/** Position of the first sound; 0 when there is none. */
export function firstSound(speech: Int16Array): Samples {
  return soundingStretches(speech)[0]?.from ?? 0
}

/**
 * Estimates the positions of the words of `text` in `speech`, for voices without word times: pauses are at punctuation
 * marks, and the length of a word is proportional to its letters.
 */
export function alignWords(text: string, speech: Int16Array): SpokenWord[] {
  const words = text.split(/\s+/).filter(word => /[\p{L}\p{N}]/u.test(word))
  const clauses: string[][] = [[]]
  words.forEach((word, i) => {
    clauses.at(-1)!.push(word)
    if (/[.,;:!?…]["')\]»”’]*$/.test(word) && i < words.length - 1) clauses.push([])
  })
  const stretches = soundingStretches(speech)
  if (stretches.length === clauses.length) {
    return clauses.flatMap((clause, i) => spread(clause, stretches[i]!.from, stretches[i]!.until))
  }
  return spread(words, stretches[0]?.from ?? 0, stretches.at(-1)?.until ?? speech.length)
}

function spread(words: readonly string[], from: Samples, until: Samples): SpokenWord[] {
  const weights = words.map(spokenLength)
  const perWeight = (until - from) / weights.reduce((sum, weight) => sum + weight, 0)
  let at = from
  return words.map((text, i) => {
    const startSample = Math.round(at)
    at += weights[i]! * perWeight
    return { text, startSample, endSample: Math.round(at) }
  })
}

/** Spoken length in letters; a digit counts as a word. */
function spokenLength(word: string): number {
  let length = 1
  for (const character of word) length += /\p{N}/u.test(character) ? 4 : /\p{L}/u.test(character) ? 1 : 0
  return length
}

function soundingStretches(speech: Int16Array): { from: Samples; until: Samples }[] {
  const quiet = activeLevel(speech) * QUIET
  const stretches: { from: Samples; until: Samples }[] = []
  let last = Number.NEGATIVE_INFINITY
  for (const [i, level] of frameLevels(speech).entries()) {
    if (level <= quiet) continue
    if (i - last > PAUSE_FRAMES) stretches.push({ from: i * FRAME, until: 0 })
    stretches.at(-1)!.until = (i + 1) * FRAME
    last = i
  }
  return stretches
}

function frameLevels(speech: Int16Array): number[] {
  const levels: number[] = []
  for (let at = 0; at < speech.length; at += FRAME) {
    const until = Math.min(at + FRAME, speech.length)
    let energy = 0
    for (let i = at; i < until; i++) energy += speech[i]! * speech[i]!
    levels.push(Math.sqrt(energy / (until - at)))
  }
  return levels
}
