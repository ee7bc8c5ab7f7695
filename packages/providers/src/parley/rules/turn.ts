import type { Language } from './language.ts'
import type { Concept } from './lexicon.ts'
import { numbersIn, type SpokenNumber } from './numbers.ts'
import { datesIn } from './values/dates.ts'
import { timesIn } from './values/times.ts'
import { type Vocabulary, vocabulary } from './vocabulary.ts'
import { type Word, wordsOf } from './words.ts'

/** What somebody said, as far as the rules understand it. */
export interface Turn {
  readonly text: string
  readonly words: readonly Word[]
  /** Nothing was said and no key pressed. */
  readonly blank: boolean
  /** What the whole of it answers: yes, no, or neither. */
  readonly polarity: 'yes' | 'no' | null
  /** It says yes or no and nothing beyond. */
  readonly plain: boolean
  readonly asks: boolean
  /** The question cannot be answered by yes or no. */
  readonly asksOpenly: boolean
  readonly concepts: ReadonlySet<Concept>
  /** Stems that were said; numbers as "#12". */
  readonly said: ReadonlySet<string>
  /** Stems that a negation stands before. */
  readonly denied: ReadonlySet<string>
  /** Words that say something, grammar and politeness left out. */
  readonly substance: number
}

/** Understands a text. `digits`: keys that were pressed with it. */
export function understand(text: string, digits: string | null, language: Language): Turn {
  const words = wordsOf(text, language)
  const book = vocabulary(language)
  const denied = negations(words, book)
  const shown = book.inTurns.allIn(words)
  const { polarity, plain } = polarityOf(words, denied, shown, book)
  const substantial = (word: Word) => !book.grammar.has(word.folded)
  const stems = (negative: boolean) =>
    words.filter((word, i) => denied[i] === negative && substantial(word)).map(word => word.stem)
  const numbers = numbersIn(words, language)
  const first = words.find(word => !book.fillers.has(word.folded))?.folded ?? ''
  const isOpen = (word: Word) => book.openQuestions.has(word.folded)
  const keys = [...numbers.map(number => `#${number.value}`), ...(digits === null ? [] : [`#${digitsAsKey(digits)}`])]
  return {
    text,
    words,
    blank: words.length === 0 && digits === null,
    polarity,
    plain,
    asks: text.includes('?') || book.questions.has(first),
    asksOpenly: book.openQuestions.has(first) || (text.includes('?') && words.some(isOpen)),
    concepts: withForms(shown, words, numbers, digits, polarity, language),
    said: new Set([...stems(false), ...keys]),
    denied: new Set(stems(true)),
    substance: words.filter(substantial).length,
  }
}

/** "12#" is the number 12; "*" stays what it is. */
function digitsAsKey(digits: string): string {
  const figures = digits.replace(/[^0-9]/g, '').slice(0, 15)
  return figures === '' ? digits : String(Number(figures))
}

/** Per word: whether a negation stands before it in its clause. */
function negations(words: readonly Word[], book: Vocabulary): boolean[] {
  let negating = false
  return words.map((word, i) => {
    if (word.afterBreak || book.turns.has(word.folded)) negating = false
    const here = negating
    if (book.negators.has(word.folded) && !isInterjection(words, i, book)) negating = true
    return here
  })
}

/** The "no" of "no, I want…" answers; that of "no onions" negates. */
function isInterjection(words: readonly Word[], at: number, book: Vocabulary): boolean {
  if (words[at]!.folded !== 'no') return false
  const next = words[at + 1]
  return next === undefined || next.afterBreak || book.notNegated.has(next.folded)
}

function polarityOf(
  words: readonly Word[],
  denied: readonly boolean[],
  shown: ReadonlySet<Concept>,
  book: Vocabulary,
): { polarity: Turn['polarity']; plain: boolean } {
  const isUnsure = shown.has('unsure') || shown.has('repeat')
  let start = 0
  while (start < words.length - 1 && book.fillers.has(words[start]!.folded)) start++
  const yes = book.yes.lengthAt(words, start)
  const no = book.no.lengthAt(words, start)
  if (yes > 0 || no > 0) {
    const polarity = yes > no ? 'yes' : isUnsure ? null : 'no'
    return { polarity, plain: restIsEmpty(words, start + Math.max(yes, no), book) }
  }
  if (isUnsure) return { polarity: null, plain: false }
  const alone = book.yesAlone.lengthAt(words, start)
  if (alone > 0 && start + alone === words.length) return { polarity: 'yes', plain: true }
  if (words.some((_word, i) => denied[i] === false && book.yesAnywhere.lengthAt(words, i) > 0))
    return { polarity: 'yes', plain: false }
  const negative = denied.includes(true) || words.some(word => book.negators.has(word.folded))
  return { polarity: negative ? 'no' : null, plain: negative && restIsEmpty(words, start, book) }
}

function restIsEmpty(words: readonly Word[], from: number, book: Vocabulary): boolean {
  for (let at = from; at < words.length; ) {
    const taken = Math.max(
      book.yes.lengthAt(words, at),
      book.no.lengthAt(words, at),
      book.politeness.lengthAt(words, at),
      book.grammar.has(words[at]!.folded) ? 1 : 0,
    )
    if (taken === 0) return false
    at += taken
  }
  return true
}

/** With the concepts that show by form: numbers, days, times, keys, and what the whole answers. */
function withForms(
  shown: ReadonlySet<Concept>,
  words: readonly Word[],
  numbers: readonly SpokenNumber[],
  digits: string | null,
  polarity: Turn['polarity'],
  language: Language,
): ReadonlySet<Concept> {
  const concepts = new Set(shown)
  if (polarity === 'yes') concepts.add('agree')
  if (polarity === 'no') concepts.add('decline')
  if (digits !== null) concepts.add('keys')
  // "one" and "una" count nothing in "that one", "una cita".
  const counts = ({ value, from }: SpokenNumber) => value !== 1 || words[from]!.folded === '1'
  if (digits !== null || numbers.some(counts)) concepts.add('number')
  if (datesIn(words, language).length > 0) concepts.add('date')
  if (timesIn(words, language).length > 0) concepts.add('time')
  return concepts
}
