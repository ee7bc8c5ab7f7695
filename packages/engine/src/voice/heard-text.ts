import { NARROWBAND, type Samples, samplesToMs } from '@parley/kernel'

/** A sentence as a voice rendered it. */
export interface SpokenSentence {
  readonly text: string
  /** Samples rendered so far; all of them once `complete`. */
  readonly samples: Samples
  readonly complete: boolean
  /** Words and where they begin, ms from the start of the sentence; empty where the voice does not tell. */
  readonly words: readonly { readonly text: string; readonly startMs: number }[]
}

/** The words of a sentence that were played to their end when `played` samples of it had left. */
export function heardOf(sentence: SpokenSentence, played: Samples): string {
  if (played <= 0) return ''
  if (sentence.complete && played >= sentence.samples) return sentence.text
  const tokens = sentence.text.split(/\s+/)
  const count = sentence.words.length > 0 ? wordsPlayed(sentence, played) : shareOf(sentence, tokens.length, played)
  // Times may be of words that the voice counts otherwise ("12" as "twelve"): then its own words stand.
  if (sentence.words.length > 0 && sentence.words.length !== tokens.length) {
    return sentence.words
      .slice(0, count)
      .map(word => word.text)
      .join(' ')
  }
  return tokens.slice(0, count).join(' ')
}

/** A word is played when the next one begins. */
function wordsPlayed({ words, samples, complete }: SpokenSentence, played: Samples): number {
  const playedMs = samplesToMs(played, NARROWBAND)
  let count = 0
  while (count < words.length) {
    const next = words[count + 1]
    const end = next?.startMs ?? (complete ? samplesToMs(samples, NARROWBAND) : Number.POSITIVE_INFINITY)
    if (end > playedMs) break
    count++
  }
  return count
}

/** Without word times: words are as long as each other, and the last one is never counted before the end. */
function shareOf({ samples, complete }: SpokenSentence, words: number, played: Samples): number {
  if (!complete) return 0
  return Math.min(words - 1, Math.floor((words * played) / samples))
}
