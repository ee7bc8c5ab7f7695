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

/** "…wants to book or to cancel" has two; any of them is enough. */
export interface Alternative {
  readonly negated: boolean
  /** The caller asks about it. */
  readonly asking: boolean
  /** The caller wants it. */
  readonly wanting: boolean
  readonly signs: readonly Sign[]
}

export interface Condition {
  /** It speaks of the caller: what a tool answered cannot make it hold. */
  readonly ofCaller: boolean
  /** What was in quotes: to be said word for word. */
  readonly quotes: readonly (readonly string[])[]
  readonly alternatives: readonly Alternative[]
}

const MOST_ALTERNATIVES = 64
/** A flow asks about the same conditions in every turn. */
const MOST_KNOWN = 2000
const MOST_KNOWN_CHARACTERS = 1024
const known = new Map<string, Condition>()

/** Takes a condition of a flow, as people write them, apart. */
export function conditionOf(text: string, language: Language): Condition {
  const key = `${language} ${text}`
  const before = known.get(key)
  if (before !== undefined) return before
  const condition = analysed(text, language)
  if (known.size >= MOST_KNOWN) known.clear()
  if (text.length <= MOST_KNOWN_CHARACTERS) known.set(key, condition)
  return condition
}

function analysed(text: string, language: Language): Condition {
  const { quotes, rest } = quotesIn(text, () => ' , ')
  const book = vocabulary(language)
  const words = wordsOf(rest, language)
  const alternatives: Alternative[] = []
  let negated = false
  for (const part of parts(words, book).slice(0, MOST_ALTERNATIVES)) {
    // "does not want this or that" negates both; a verb of its own begins anew.
    const anew = part[0]!.afterBreak || part.slice(0, 2).some(word => book.telling.has(word.folded))
    const alternative = alternativeOf(part, negated && !anew, book)
    negated = alternative.negated
    if (alternative.signs.length > 0 || alternative.negated) alternatives.push(alternative)
  }
  const spoken = quotes.map(quote => wordsOf(quote, language).map(word => word.folded))
  const ofCaller = words.some(word => book.subjects.has(word.folded))
  return { ofCaller, quotes: spoken.filter(quote => quote.length > 0), alternatives }
}

/** The words between "or" and punctuation. */
function parts(words: readonly Word[], book: Vocabulary): Word[][] {
  const all: Word[][] = [[]]
  for (const word of words) {
    if (word.afterBreak || book.or.has(word.folded)) all.push([])
    if (!book.or.has(word.folded)) all.at(-1)!.push(word)
  }
  return all.filter(part => part.length > 0)
}

function alternativeOf(words: readonly Word[], negatedBefore: boolean, book: Vocabulary): Alternative {
  const asking = words.some(word => book.asking.has(word.folded))
  const wanting = words.some(word => book.wanting.has(word.folded))
  const signs: Sign[] = []
  let negated = negatedBefore
  for (let at = 0; at < words.length; ) {
    const found = conceptAt(words, at, book)
    const word = words[at]!
    const isTopic = found !== null && (asking ? GIVEN.has(found.concept) : found.concept === 'order' && !wanting)
    if (found !== null && !isTopic && !isSubject(words, at, book)) {
      signs.push({ by: 'concept', concept: found.concept })
      at += found.length
      continue
    }
    const number = book.grammar.has(word.folded) ? null : numberAt(words, at, book.language)
    if (number !== null) signs.push({ by: 'number', key: `#${number.value}` })
    else if (book.negators.has(word.folded)) negated = true
    else if (!book.grammar.has(word.folded) && !book.telling.has(word.folded))
      signs.push({ by: 'stem', stem: word.stem })
    at = number?.to ?? at + 1
  }
  return settled({ negated, asking, wanting, signs })
}

/** "does not agree" is a refusal, "does not refuse" an agreement. */
function settled(alternative: Alternative): Alternative {
  const [first, ...rest] = alternative.signs
  if (!alternative.negated || first?.by !== 'concept' || !(first.concept === 'agree' || first.concept === 'decline'))
    return alternative
  const opposite: Sign = { by: 'concept', concept: first.concept === 'agree' ? 'decline' : 'agree' }
  return { ...alternative, negated: false, signs: [opposite, ...rest] }
}

/** Asked about they are topics; given, or done, they show in the turn by its form. */
const GIVEN: ReadonlySet<Concept> = new Set(['number', 'date', 'time', 'name', 'email', 'details', 'order'] as const)

function conceptAt(words: readonly Word[], at: number, book: Vocabulary): ReturnType<ConceptMatcher['longestAt']> {
  const found = book.inConditions.longestAt(words, at)
  // "does not want to", "no quiere": there it negates a verb. Alone ("says no") it is an answer.
  return found?.concept === 'decline' && found.length === 1 && isBareNo(words, at, book) ? null : found
}

function isBareNo(words: readonly Word[], at: number, book: Vocabulary): boolean {
  const { folded } = words[at]!
  return book.negators.has(folded) && at < words.length - 1 && !book.and.has(words[at + 1]!.folded)
}

/** "The person wants…", "who is…": not somebody that is asked for. */
function isSubject(words: readonly Word[], at: number, book: Vocabulary): boolean {
  return at <= 1 && book.subjects.has(words[at]!.folded) && at < words.length - 1
}

/** Whether the phrases stand in the turn; made once for a condition's quotes. */
export function saysAny(turn: Turn, quotes: Condition['quotes']): number {
  let longest = 0
  for (const quote of quotes) {
    const book = new PhraseMatcher([quote.join(' ')])
    if (book.isIn(turn.words)) longest = Math.max(longest, quote.length)
  }
  return longest
}
