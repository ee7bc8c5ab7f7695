import type { Ms } from '@parley/kernel'
import { isObject } from '../json-object.ts'
import { stringsIn, timesIn } from '../text-to-speech/service-message.ts'
import type { TimedWord } from '../text-to-speech/word-alignment.ts'

const LONGEST_WORD = 200

/** Words of one utterance, from characters and the times at which each begins, in pieces that are cut anywhere. */
export class CharacterWords {
  #word = ''
  #startMs: Ms = 0

  /** `alignment` as the service sent it; its times count from `offsetMs` of the utterance. Returns words that are whole. */
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
        if (this.#word.length < LONGEST_WORD) this.#word += char
      }
    }
    return words
  }

  /** The word that was not whole yet. */
  end(): TimedWord[] {
    if (this.#word === '') return []
    const word = { text: this.#word, startMs: this.#startMs }
    this.#word = ''
    return [word]
  }
}
