import { normalisedSpeech, type PhrasePattern, phrasePatterns } from '@parley/dialogue/testing'
import type { CallSpec } from './manifest.ts'

/**
 * The phrases with which a call is judged as if nobody had read its lines before: those without the phrases of its own class that occur, among all lines
 * of `specs`, in this call's lines alone. Phrases that occur in no line stay.
 */
export class LinesLeftOut {
  /** For each language its phrases, each with the lines in which it occurs. */
  readonly #occurrences = new Map<string, ReadonlyMap<PhrasePattern, readonly string[]>>()

  constructor(specs: readonly CallSpec[]) {
    for (const language of new Set(specs.map(spec => spec.language))) {
      const lines = new Set(specs.filter(spec => spec.language === language).flatMap(linesOf))
      const texts = [...lines].map(line => ({ line, text: normalisedSpeech(line) }))
      const found = phrasePatterns([language]).map(phrase => {
        // A phrase at the beginning of a call may stand anywhere in a line here.
        const expression = new RegExp(phrase.expression.source.replace(/^\^/, ''))
        return [phrase, texts.filter(({ text }) => expression.test(text)).map(({ line }) => line)] as const
      })
      this.#occurrences.set(language, new Map(found))
    }
  }

  phrasesFor(spec: CallSpec): PhrasePattern[] {
    const own = new Set(linesOf(spec))
    const isPerson = spec.class === 'human'
    return [...this.#occurrences.get(spec.language)!].flatMap(([phrase, lines]) => {
      const supports = (phrase.class === 'human') === isPerson
      return supports && lines.length > 0 && lines.every(line => own.has(line)) ? [] : [phrase]
    })
  }
}

function linesOf({ wording }: CallSpec): string[] {
  return wording.split(' / ').filter(line => line !== '')
}
