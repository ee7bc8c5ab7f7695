import type { Samples } from '@parley/kernel'
import type { HeardWord } from '../speech-to-text/speech-to-text.ts'
import { MAX_GAP_IN_WORD } from './tone-line.ts'
import type { WordPiece } from './word-code.ts'

const MAX_CHARACTERS = 4096

/** Joins the pieces of long words. A word with a missing piece is dropped. */
export class WordJoiner {
  readonly #onWord: (word: HeardWord) => void
  #begun: HeardWord | null = null

  constructor(onWord: (word: HeardWord) => void) {
    this.#onWord = onWord
  }

  push(piece: WordPiece, startSample: Samples, endSample: Samples): void {
    const begun = this.#begun
    this.#begun = null
    let word: HeardWord = { text: piece.text, startSample, endSample }
    if (piece.continues) {
      if (begun === null || startSample - begun.endSample > MAX_GAP_IN_WORD) return
      word = { text: begun.text + piece.text, startSample: begun.startSample, endSample }
    }
    if (!piece.goesOn) this.#onWord(word)
    else if (word.text.length <= MAX_CHARACTERS) this.#begun = word
  }
}
