import type { Language } from '../language.ts'
import { vocabulary } from '../vocabulary.ts'
import { type Word, wordsOf } from '../words.ts'

/** An answer without polite phrases: "the blue one" for "It's the blue one, please."; "" when nothing is left. */
export function strippedAnswer(text: string, language: Language): string {
  const rest = answerWords(wordsOf(text, language), language)
  if (rest.length === 0) return ''
  return text.slice(rest[0]!.start, rest.at(-1)!.end)
}

export function answerWords(words: readonly Word[], language: Language): readonly Word[] {
  const { politeness, fillers } = vocabulary(language)
  let from = 0
  let to = words.length
  for (;;) {
    const taken = Math.max(politeness.lengthAt(words, from), fillers.has(words[from]?.folded ?? '') ? 1 : 0)
    if (taken === 0 || from + taken > to) break
    from += taken
  }
  for (let again = true; again && to > from; ) {
    again = false
    for (const length of [2, 1]) {
      if (to - length < from || politeClosing(words.slice(to - length, to)) === false) continue
      to -= length
      again = true
      break
    }
  }
  return words.slice(from, to)
}

const CLOSINGS = new Set(['please', 'thanks', 'thank you', 'por favor', 'gracias'])

function politeClosing(words: readonly Word[]): boolean {
  return CLOSINGS.has(words.map(word => word.folded).join(' '))
}
