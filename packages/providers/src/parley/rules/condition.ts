import type { ConceptMatcher } from './concept-matcher.ts'
import type { Language } from './language.ts'
import type { Concept } from './lexicon.ts'
import { numberAt } from './numbers.ts'
import { PhraseMatcher } from './phrase-matcher.ts'
import { quotesIn } from './quotes.ts'
import type { Turn } from './turn.ts'
import { type Vocabulary, vocabulary } from './vocabulary.ts'
import { type Word, wordsOf } from './words.ts'

/** What a condition looks for in a turn: a stem, a number, or a concept. */
type Sign =
  | { readonly by: 'stem'; readonly stem: string }
  | { readonly by: 'number'; readonly key: string }
  | { readonly by: 'concept'; readonly concept: Concept }

/** One branch of a condition: "…wants to book or to cancel" has two, and one of them is enough. */
export interface Alternative {
  readonly negated: boolean
  /** The condition is about a question of the caller ("asks about…"). */
  readonly asking: boolean
  /** The condition is about a wish of the caller ("wants…"). */
  readonly wanting: boolean
  readonly signs: readonly Sign[]
}

export interface Condition {
  /** The condition is about the caller, so a tool result cannot fulfil it. */
  readonly ofCaller: boolean
  /** The quoted phrases, which the caller must say word for word; as folded words. */
  readonly quotes: readonly (readonly string[])[]
  readonly alternatives: readonly Alternative[]
}

const MAX_ALTERNATIVES = 64
/** Parsed conditions are cached: a flow evaluates the same conditions in every turn. */
const MAX_CACHED = 2000
const MAX_CACHED_CHARACTERS = 1024
const cache = new Map<string, Condition>()

/** Parses a condition of a flow, written in natural language. Results are cached. */
export function conditionOf(text: string, language: Language): Condition {
  const key = `${language} ${text}`
  const cached = cache.get(key)
  if (cached !== undefined) return cached
  const condition = parseCondition(text, language)
  if (cache.size >= MAX_CACHED) cache.clear()
  if (text.length <= MAX_CACHED_CHARACTERS) cache.set(key, condition)
  return condition
}

function parseCondition(text: string, language: Language): Condition {
  const { quotes, rest } = quotesIn(text, () => ' , ')
  const vocab = vocabulary(language)
  const words = wordsOf(rest, language)
  const alternatives: Alternative[] = []
  let negated = false
  for (const part of parts(words, vocab).slice(0, MAX_ALTERNATIVES)) {
    // The negation of "does not want this or that" covers both parts, unless the second has a verb of its own.
    const startsAgain = part[0]!.afterBreak || part.slice(0, 2).some(word => vocab.framing.has(word.folded))
    const alternative = alternativeOf(part, negated && !startsAgain, vocab)
    negated = alternative.negated
    if (alternative.signs.length > 0 || alternative.negated) alternatives.push(alternative)
  }
  const spoken = quotes.map(quote => wordsOf(quote, language).map(word => word.folded))
  const ofCaller = words.some(word => vocab.subjects.has(word.folded))
  return { ofCaller, quotes: spoken.filter(quote => quote.length > 0), alternatives }
}

/** The words between "or" and punctuation. */
function parts(words: readonly Word[], vocab: Vocabulary): Word[][] {
  const all: Word[][] = [[]]
  for (const word of words) {
    if (word.afterBreak || vocab.or.has(word.folded)) all.push([])
    if (!vocab.or.has(word.folded)) all.at(-1)!.push(word)
  }
  return all.filter(part => part.length > 0)
}

function alternativeOf(words: readonly Word[], negatedBefore: boolean, vocab: Vocabulary): Alternative {
  const asking = words.some(word => vocab.asking.has(word.folded))
  const wanting = words.some(word => vocab.wanting.has(word.folded))
  const signs: Sign[] = []
  let negated = negatedBefore
  for (let at = 0; at < words.length; ) {
    const found = conceptAt(words, at, vocab)
    const word = words[at]!
    const isTopic = found !== null && (asking ? GIVEN.has(found.concept) : found.concept === 'order' && !wanting)
    if (found !== null && !isTopic && !isSubject(words, at, vocab)) {
      signs.push({ by: 'concept', concept: found.concept })
      at += found.length
      continue
    }
    const number = vocab.grammar.has(word.folded) ? null : numberAt(words, at, vocab.language)
    if (number !== null) signs.push({ by: 'number', key: `#${number.value}` })
    else if (vocab.negators.has(word.folded)) negated = true
    else if (!vocab.grammar.has(word.folded) && !vocab.framing.has(word.folded))
      signs.push({ by: 'stem', stem: word.stem })
    at = number?.to ?? at + 1
  }
  return withoutDoubleNegation({ negated, asking, wanting, signs })
}

/** "does not agree" is a refusal, "does not refuse" an agreement. */
function withoutDoubleNegation(alternative: Alternative): Alternative {
  const [first, ...rest] = alternative.signs
  if (!alternative.negated || first?.by !== 'concept' || !(first.concept === 'agree' || first.concept === 'decline'))
    return alternative
  const opposite: Sign = { by: 'concept', concept: first.concept === 'agree' ? 'decline' : 'agree' }
  return { ...alternative, negated: false, signs: [opposite, ...rest] }
}

/** Concepts that a turn expresses by its form when the caller gives them. When the caller asks about them, they are topics. */
const GIVEN: ReadonlySet<Concept> = new Set(['number', 'date', 'time', 'name', 'email', 'details', 'order'] as const)

function conceptAt(words: readonly Word[], at: number, vocab: Vocabulary): ReturnType<ConceptMatcher['longestAt']> {
  // In "The caller names a day" the word after the subject is a verb, not the name of the caller.
  if (at > 0 && isSubject(words, at - 1, vocab) && vocab.framing.has(words[at]!.folded)) return null
  const found = vocab.inConditions.longestAt(words, at)
  // In "does not want to" and "no quiere" the word negates a verb; alone ("says no") it is an answer.
  return found?.concept === 'decline' && found.length === 1 && isBareNo(words, at, vocab) ? null : found
}

function isBareNo(words: readonly Word[], at: number, vocab: Vocabulary): boolean {
  const { folded } = words[at]!
  return vocab.negators.has(folded) && at < words.length - 1 && !vocab.and.has(words[at + 1]!.folded)
}

/** Whether the word is the subject of the condition ("The person wants…"), not a person whom the caller asks for. */
function isSubject(words: readonly Word[], at: number, vocab: Vocabulary): boolean {
  return at <= 1 && vocab.subjects.has(words[at]!.folded) && at < words.length - 1
}

/** The length in words of the longest quoted phrase that occurs in the turn; 0 when none does. */
export function longestQuoteIn(turn: Turn, quotes: Condition['quotes']): number {
  let longest = 0
  for (const quote of quotes) {
    const matcher = new PhraseMatcher([quote.join(' ')])
    if (matcher.isIn(turn.words)) longest = Math.max(longest, quote.length)
  }
  return longest
}
