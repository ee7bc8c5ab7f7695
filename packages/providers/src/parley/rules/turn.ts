import type { Language } from './language.ts'
import type { Concept } from './lexicon.ts'
import { numbersIn, type SpokenNumber } from './numbers.ts'
import { datesIn } from './values/dates.ts'
import { timesIn } from './values/times.ts'
import { type Vocabulary, vocabulary } from './vocabulary.ts'
import { type Word, wordsOf } from './words.ts'

/** A parsed utterance of the caller or the agent, or a tool result as text. */
export interface Turn {
  readonly text: string
  readonly words: readonly Word[]
  /** It has no words and no pressed keys. */
  readonly blank: boolean
  /** The answer of the whole turn: yes, no, or neither. */
  readonly polarity: 'yes' | 'no' | null
  /** It contains nothing but a yes or no. */
  readonly plain: boolean
  readonly asks: boolean
  /** It is a question that "yes" or "no" does not answer. */
  readonly asksOpenly: boolean
  readonly concepts: ReadonlySet<Concept>
  /** Stems of words outside negations; numbers and pressed keys as "#12". */
  readonly statedStems: ReadonlySet<string>
  /** Stems of words in the scope of a negation. */
  readonly negatedStems: ReadonlySet<string>
  /** The number of words that are not function words. */
  readonly substance: number
}

/** Parses a text. `digits`: keys that were pressed in the same turn. */
export function parseTurn(text: string, digits: string | null, language: Language): Turn {
  const words = wordsOf(text, language)
  const vocab = vocabulary(language)
  const negated = negations(words, vocab)
  const expressed = vocab.inTurns.allIn(words)
  const { polarity, plain } = polarityOf(words, negated, expressed, vocab)
  const substantial = (word: Word) => !vocab.grammar.has(word.folded)
  const stems = (negative: boolean) =>
    words.filter((word, i) => negated[i] === negative && substantial(word)).map(word => word.stem)
  const numbers = numbersIn(words, language)
  const first = words.find(word => !vocab.fillers.has(word.folded))?.folded ?? ''
  const isOpen = (word: Word) => vocab.openQuestions.has(word.folded)
  const keys = [...numbers.map(number => `#${number.value}`), ...(digits === null ? [] : [`#${digitsAsKey(digits)}`])]
  return {
    text,
    words,
    blank: words.length === 0 && digits === null,
    polarity,
    plain,
    asks: text.includes('?') || vocab.questions.has(first),
    asksOpenly: vocab.openQuestions.has(first) || (text.includes('?') && words.some(isOpen)),
    concepts: withForms(expressed, words, numbers, digits, polarity, language),
    statedStems: new Set([...stems(false), ...keys]),
    negatedStems: new Set(stems(true)),
    substance: words.filter(substantial).length,
  }
}

/** The pressed keys as a number ("12#": "12"); keys without digits ("*") unchanged. */
function digitsAsKey(digits: string): string {
  const figures = digits.replace(/[^0-9]/g, '').slice(0, 15)
  return figures === '' ? digits : String(Number(figures))
}

/** Per word: whether it follows a negation in its clause. */
function negations(words: readonly Word[], vocab: Vocabulary): boolean[] {
  let negating = false
  return words.map((word, i) => {
    if (word.afterBreak || vocab.turns.has(word.folded)) negating = false
    const here = negating
    if (vocab.negators.has(word.folded) && !isInterjection(words, i, vocab)) negating = true
    return here
  })
}

/** Whether "no" is an answer ("no, I want…") and not a negation ("no onions"). */
function isInterjection(words: readonly Word[], at: number, vocab: Vocabulary): boolean {
  if (words[at]!.folded !== 'no') return false
  const next = words[at + 1]
  return next === undefined || next.afterBreak || vocab.notNegated.has(next.folded)
}

function polarityOf(
  words: readonly Word[],
  negated: readonly boolean[],
  expressed: ReadonlySet<Concept>,
  vocab: Vocabulary,
): { polarity: Turn['polarity']; plain: boolean } {
  const isUnsure = expressed.has('unsure') || expressed.has('repeat')
  let start = 0
  while (start < words.length - 1 && vocab.fillers.has(words[start]!.folded)) start++
  const yes = vocab.yes.lengthAt(words, start)
  const no = vocab.no.lengthAt(words, start)
  if (yes > 0 || no > 0) {
    const polarity = yes > no ? 'yes' : isUnsure ? null : 'no'
    return { polarity, plain: restIsEmpty(words, start + Math.max(yes, no), vocab) }
  }
  if (isUnsure) return { polarity: null, plain: false }
  const alone = vocab.yesAlone.lengthAt(words, start)
  if (alone > 0 && start + alone === words.length) return { polarity: 'yes', plain: true }
  if (words.some((_word, i) => negated[i] === false && vocab.yesAnywhere.lengthAt(words, i) > 0))
    return { polarity: 'yes', plain: false }
  const negative = negated.includes(true) || words.some(word => vocab.negators.has(word.folded))
  return { polarity: negative ? 'no' : null, plain: negative && restIsEmpty(words, start, vocab) }
}

function restIsEmpty(words: readonly Word[], from: number, vocab: Vocabulary): boolean {
  for (let at = from; at < words.length; ) {
    const taken = Math.max(
      vocab.yes.lengthAt(words, at),
      vocab.no.lengthAt(words, at),
      vocab.politeness.lengthAt(words, at),
      vocab.grammar.has(words[at]!.folded) ? 1 : 0,
    )
    if (taken === 0) return false
    at += taken
  }
  return true
}

/** Adds the concepts that the form of the turn expresses: numbers, days, times, keys, agreement and refusal. */
function withForms(
  expressed: ReadonlySet<Concept>,
  words: readonly Word[],
  numbers: readonly SpokenNumber[],
  digits: string | null,
  polarity: Turn['polarity'],
  language: Language,
): ReadonlySet<Concept> {
  const concepts = new Set(expressed)
  if (polarity === 'yes') concepts.add('agree')
  if (polarity === 'no') concepts.add('decline')
  if (digits !== null) concepts.add('keys')
  // "one" and "una" are no numbers in "that one" and "una cita".
  const counts = ({ value, from }: SpokenNumber) => value !== 1 || words[from]!.folded === '1'
  if (digits !== null || numbers.some(counts)) concepts.add('number')
  if (datesIn(words, language).length > 0) concepts.add('date')
  if (timesIn(words, language).length > 0) concepts.add('time')
  return concepts
}
