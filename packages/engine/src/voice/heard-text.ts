import { type AudioFormat, type Ms, type Samples, samplesToMs } from '@parley/kernel'

/** A sentence as synthesised so far. */
interface SpokenSentence {
  readonly text: string
  /** Samples rendered so far; all of them once `complete`. */
  readonly samples: Samples
  readonly complete: boolean
  /** See `Sentence`; default null. */
  readonly wordMs?: Ms | null
  /** Words and their begin in ms from the start of the sentence; empty if the voice reports none. */
  readonly words: readonly { readonly text: string; readonly startMs: number }[]
}

/** The words of a sentence that were completely played after `played` of its samples, in `format`. */
export function heardOf(sentence: SpokenSentence, played: Samples, format: AudioFormat): string {
  if (played <= 0) return ''
  if (sentence.complete && played >= sentence.samples) return sentence.text
  const tokens = sentence.text.split(/\s+/)
  const count =
    sentence.words.length > 0 ? wordsPlayed(sentence, played, format) : shareOf(sentence, tokens.length, played, format)
  // The voice may split words differently ("12" as "one two"): then its own words are used.
  if (sentence.words.length > 0 && sentence.words.length !== tokens.length) {
    return sentence.words
      .slice(0, count)
      .map(word => word.text)
      .join(' ')
  }
  return tokens.slice(0, count).join(' ')
}

/** A word counts as played when the next one begins. */
function wordsPlayed({ words, samples, complete }: SpokenSentence, played: Samples, format: AudioFormat): number {
  const playedMs = samplesToMs(played, format)
  let count = 0
  while (count < words.length) {
    const next = words[count + 1]
    const end = next?.startMs ?? (complete ? samplesToMs(samples, format) : Number.POSITIVE_INFINITY)
    if (end > playedMs) break
    count++
  }
  return count
}

/** Without word times: all words count as equally long, and the last one counts only at the end. */
function shareOf(
  { samples, complete, wordMs = null }: SpokenSentence,
  words: number,
  played: Samples,
  format: AudioFormat,
): number {
  if (!complete) return wordMs === null ? 0 : Math.min(words - 1, Math.floor(samplesToMs(played, format) / wordMs))
  return Math.min(words - 1, Math.floor((words * played) / samples))
}
