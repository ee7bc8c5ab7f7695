import type { Ms } from '@parley/kernel'
import { isObject } from '../json-object.ts'
import { stringsIn, timesIn } from '../text-to-speech/service-message.ts'
import type { TimedWord } from '../text-to-speech/word-alignment.ts'

const MAX_WORD = 200

/** Joins characters with start times to the words of one utterance; the pieces may be split anywhere. */
export class CharacterWords {
  #word = ''
  #startMs: Ms = 0

  /** `alignment`: as the service sends it, its times relative to `offsetMs` of the utterance. Returns the completed words. */
  take(alignment: unknown, offsetMs: Ms): TimedWord[] {
    if (!isObject(alignment)) return []
    const chars = stringsIn(alignment.chars)
    const starts = timesIn(alignment.charStartTimesMs ?? alignment.charsStartTimesMs)
    if (chars === null || starts === null || chars.length !== starts.length) return []
    const words: TimedWord[] = []
    for (const [i, char] of chars.entries()) {
      if (/^\s*$/.test(char)) words.push(...this.end())
      else {
        if (this.#word === '') this.#startMs = offsetMs + starts[i]!
        if (this.#word.length < MAX_WORD) this.#word += char
      }
    }
    return words
  }

  /** The last word, which no blank followed. */
  end(): TimedWord[] {
    if (this.#word === '') return []
    const word = { text: this.#word, startMs: this.#startMs }
    this.#word = ''
    return [word]
  }
}
