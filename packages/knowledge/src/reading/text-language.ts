import type { Chunk } from '@parley/store'

const ENGLISH = new Set(
  'the and of to is in that it for you with on are this be or as your we not can will from have'.split(' '),
)
const SPANISH = new Set(
  'el la de que y en los las un una se por con para no su es del al lo como más si este'.split(' '),
)
/** Words that are read to decide. */
const SAMPLE = 4000
/** A text is in a language only if at least one in this many of its words is a common word of that language. */
const ONE_IN = 20

/** How the words of a text are stemmed, by counting the commonest words of each language. */
export function languageOfText(texts: readonly string[]): Chunk['language'] {
  let words = 0
  let english = 0
  let spanish = 0
  for (const text of texts) {
    for (const [word] of text.toLowerCase().matchAll(/\p{L}+/gu)) {
      if (words === SAMPLE) break
      words++
      if (ENGLISH.has(word)) english++
      if (SPANISH.has(word)) spanish++
    }
    if (words === SAMPLE) break
  }
  if (Math.max(english, spanish) * ONE_IN < words) return 'simple'
  return spanish > english ? 'spanish' : 'english'
}
