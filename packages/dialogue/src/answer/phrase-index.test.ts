import { describe, expect, it } from 'vitest'
import { PhraseIndex } from './phrase-index.ts'
import { normalisedSpeech, type PhrasePattern, phrasePatterns } from './phrase-patterns.ts'

/** A text that says a phrase: the last of alternatives, nothing that may be missing. */
const spoken = ({ phrase }: PhrasePattern) =>
  phrase
    .split(' ')
    .filter(word => word !== '^' && word !== '$' && word !== '~' && !word.startsWith('('))
    .map(word => (word === '#' ? '7' : word === '+' ? 'something' : word.split('/').at(-1)!))
    .join(' ')

describe.each(['en', 'es'])('the phrases of %s', language => {
  const patterns = phrasePatterns([language])
  const index = new PhraseIndex(patterns)

  it('each is found in a text that says it', () => {
    const missing = patterns.filter(pattern => !index.in(normalisedSpeech(spoken(pattern))).includes(pattern))
    expect(missing.map(({ phrase }) => phrase)).toEqual([])
  })

  it('none has a contraction as the choice beside its own first word, as a choice is one word', () => {
    const wrong = patterns.filter(({ phrase }) =>
      /'(m|re|ll|s)\/\w+ (am|are|will|is)[/ ]|\b(are|is)\/\w+'(re|s)/.test(phrase),
    )
    expect(wrong.map(({ phrase }) => phrase)).toEqual([])
  })

  it('those that are found in a text are the ones that comparing all of them finds', () => {
    const texts = patterns.map((pattern, i) => `${spoken(pattern)} ${spoken(patterns[(i * 7) % patterns.length]!)}`)
    for (const text of texts.map(normalisedSpeech))
      expect(index.in(text)).toEqual(patterns.filter(({ expression }) => expression.test(text)))
  })
})
