/**
 * Scores how well a condition of a transition or a tool fits the caller's turn. A score is a sum of weights: 1 for each
 * stem or concept of the condition that the turn contains, less for weaker signs (the constants below).
 */

import { type Alternative, type Condition, longestQuoteIn } from './condition.ts'
import type { Concept } from './lexicon.ts'
import type { Turn } from './turn.ts'
import type { Vocabulary } from './vocabulary.ts'

/** Least score with which a condition holds. */
export const HOLDS = 0.7

/** A turn, and the agent's question that it answers. */
export interface Answer {
  readonly turn: Turn
  readonly question: Turn | null
}

/** Base score of a phrase that the condition quotes and the turn contains. */
const QUOTED = 3
/** Score of any agreement for a condition that quotes "yes", and of any refusal for one that quotes "no". */
const SAME_ANSWER_AS_QUOTED = 1.5
/** A near-synonym weighs less than the word itself. */
const SYNONYM = 0.9
/** Weight per stem of the question that a plain "yes" accepts. */
const ACCEPTED_QUESTION = 0.6
/** Weight of a statement, for conditions about a name or details. */
const STATEMENT = 0.75
/** Weight of a "yes" or "no" that is followed by more words. */
const ANSWER_WITH_MORE = 0.8
/** Weight of any answer, for conditions about "anything". */
const ANY_ANSWER = 0.5
/** Bonus of an open question for a condition that says "asks". */
const OPEN_QUESTION = 0.35
/** Least share of the condition's signs that must be found, unless two are. */
const MIN_COVERAGE = 0.3

/**
 * How well the condition fits the turn, from 0; it holds from `HOLDS` on. The score grows with the number of signs that
 * were found, and among equal numbers with the share of the condition's signs. A blank turn scores 0.
 */
export function fit(condition: Condition, answer: Answer, vocab: Vocabulary): number {
  if (answer.turn.blank) return 0
  const quoteLength = longestQuoteIn(answer.turn, condition.quotes)
  if (quoteLength > 0) return QUOTED + quoteLength
  const byMeaning = condition.quotes.length > 0 ? fitOfQuotedAnswer(condition, answer.turn, vocab) : 0
  const possible = condition.alternatives.filter(
    alternative => condition.ofCaller || canFulfil(alternative, answer.turn),
  )
  return Math.max(byMeaning, ...possible.map(alternative => fitOf(alternative, answer, vocab)))
}

/** Whether the turn can fulfil the alternative: only a tool result shows that something succeeded or failed. */
function canFulfil({ signs }: Alternative, turn: Turn): boolean {
  return signs.every(sign => {
    const isOutcome = sign.by === 'concept' && (sign.concept === 'succeeded' || sign.concept === 'failed')
    return !isOutcome || turn.concepts.has(sign.concept)
  })
}

/** A condition that quotes "yes" also holds for "of course", with a lower score than for the quoted word. */
function fitOfQuotedAnswer(condition: Condition, turn: Turn, vocab: Vocabulary): number {
  if (turn.polarity === null) return 0
  const answers = turn.polarity === 'yes' ? vocab.yes : vocab.no
  const quotesThisAnswer = condition.quotes.some(quote => {
    const words = quote.map(folded => ({ folded, stem: folded, start: 0, end: 0, afterBreak: false }))
    return answers.lengthAt(words, 0) === quote.length
  })
  return quotesThisAnswer ? SAME_ANSWER_AS_QUOTED : 0
}

function fitOf(alternative: Alternative, answer: Answer, vocab: Vocabulary): number {
  if (alternative.negated) return fitOfNegated(alternative, answer, vocab)
  const { turn } = answer
  const { signs } = alternative
  const numbers = signs.filter(sign => sign.by === 'number')
  if (numbers.length > 0 && !numbers.some(sign => turn.statedStems.has(sign.key))) return 0
  let found = foundStems(signs, turn.statedStems, vocab)
  for (const sign of signs) {
    if (sign.by === 'number' && turn.statedStems.has(sign.key)) found += 1
    if (sign.by === 'concept') found += conceptIn(alternative, sign.concept, turn)
  }
  if (found === 0 && turn.polarity === 'yes' && turn.plain) found = inQuestion(alternative, answer.question, vocab)
  const weight = weigh(found, signs.length)
  return weight > 0 && alternative.asking && turn.asksOpenly ? weight + OPEN_QUESTION : weight
}

function weigh(found: number, signCount: number): number {
  const coverage = signCount === 0 ? 0 : found / signCount
  if (found === 0 || (coverage < MIN_COVERAGE && found < 2)) return 0
  return found + coverage / 2
}

function conceptIn(alternative: Alternative, concept: Concept, turn: Turn): number {
  if (concept === 'anything') {
    // "Wants something else" does not hold for a refusal; otherwise any answer fulfils the condition.
    const isFulfilled = !alternative.wanting || (turn.polarity !== 'no' && !turn.concepts.has('done'))
    return isFulfilled ? ANY_ANSWER : 0
  }
  if (concept === 'name' || concept === 'details') return isStatement(turn) ? STATEMENT : 0
  if (concept === 'email') return turn.text.includes('@') || /\b(arroba|at)\b/i.test(turn.text) ? 1 : 0
  // A caller who names a day where something else was asked wants another day.
  if (concept === 'other date' || concept === 'other time')
    return turn.concepts.has(concept) ? 1 : turn.concepts.has(concept === 'other date' ? 'date' : 'time') ? SYNONYM : 0
  if (!turn.concepts.has(concept)) return 0
  return (concept === 'agree' || concept === 'decline') && !turn.plain ? ANSWER_WITH_MORE : 1
}

function isStatement(turn: Turn): boolean {
  return (
    !turn.asks && !turn.plain && turn.substance > 0 && !turn.concepts.has('person') && !turn.concepts.has('goodbye')
  )
}

/** The score of a plain "yes": it accepts the topic of the agent's question. */
function inQuestion(alternative: Alternative, question: Turn | null, vocab: Vocabulary): number {
  if (question === null) return 0
  return foundStems(alternative.signs, question.statedStems, vocab) * ACCEPTED_QUESTION
}

/** "Does not want X" holds for a refusal and for a turn that negates X. */
function fitOfNegated(alternative: Alternative, { turn, question }: Answer, vocab: Vocabulary): number {
  const stems = alternative.signs.filter(sign => sign.by === 'stem')
  let denied = foundStems(stems, turn.negatedStems, vocab)
  for (const sign of alternative.signs)
    if (sign.by === 'concept' && sign.concept === 'anything' && turn.concepts.has('done')) denied += 1
  const refused = turn.polarity === 'no' || (turn.concepts.has('done') && turn.polarity === null)
  const base = refused && turn.plain ? 1 : refused && stems.length === 0 ? ANSWER_WITH_MORE : 0
  const requested = base > 0 ? inQuestion(alternative, question, vocab) / 2 : 0
  const found = base + denied + requested
  return found < HOLDS ? 0 : found + found / (2 * (1 + alternative.signs.length))
}

/** The number of the signs' stems that occur; near-synonyms count less, and each word counts once. */
function foundStems(signs: Alternative['signs'], stems: ReadonlySet<string>, vocab: Vocabulary): number {
  const signStems = signs.flatMap(sign => (sign.by === 'stem' ? [sign.stem] : []))
  const exact = signStems.filter(stem => stems.has(stem))
  const groups = new Set<number>()
  for (const stem of stems) {
    const group = exact.includes(stem) ? undefined : vocab.groupOf.get(stem)
    if (group !== undefined) groups.add(group)
  }
  const synonyms = signStems.filter(stem => !stems.has(stem) && groups.has(vocab.groupOf.get(stem) ?? -1))
  return exact.length + synonyms.length * SYNONYM
}
