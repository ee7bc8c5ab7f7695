import { type Alternative, type Condition, saysAny } from './condition.ts'
import type { Concept } from './lexicon.ts'
import type { Turn } from './turn.ts'
import type { Vocabulary } from './vocabulary.ts'

/** Below this a condition does not hold. */
export const HOLDS = 0.7

/** A turn, and the agent's words that it answers. */
export interface Answer {
  readonly turn: Turn
  readonly question: Turn | null
}

const QUOTED = 3
/** Another word for it weighs less than the word itself. */
const ALIKE = 0.9
/** "yes" to a question about it. */
const BY_QUESTION = 0.6
const STATEMENT = 0.75
/** A yes or no that goes on is about what comes then. */
const ANSWER_AND_MORE = 0.8
const ANY_ANSWER = 0.5
/** An open question fits a condition that says "asks". */
const ASKED = 0.35
const LEAST_COVERAGE = 0.3

/**
 * How well the condition fits the turn: 0 not at all, from `HOLDS` on it holds. More signs found weigh more, and of as
 * many found the condition that asks for fewer. Nothing fits a turn without words or keys.
 */
export function fit(condition: Condition, answer: Answer, book: Vocabulary): number {
  if (answer.turn.blank) return 0
  const said = saysAny(answer.turn, condition.quotes)
  if (said > 0) return QUOTED + said
  const byMeaning = condition.quotes.length > 0 ? fitOfQuotedAnswer(condition, answer.turn, book) : 0
  const possible = condition.alternatives.filter(alternative => condition.ofCaller || canKnow(alternative, answer.turn))
  return Math.max(byMeaning, ...possible.map(alternative => fitOf(alternative, answer, book)))
}

/** How something went is known from a tool's answer alone, not from a caller who speaks of it. */
function canKnow({ signs }: Alternative, turn: Turn): boolean {
  return signs.every(sign => {
    const isOutcome = sign.by === 'concept' && (sign.concept === 'succeeded' || sign.concept === 'failed')
    return !isOutcome || turn.concepts.has(sign.concept)
  })
}

/** A condition that quotes "yes" holds for "of course" too, but less than where it was said. */
function fitOfQuotedAnswer(condition: Condition, turn: Turn, book: Vocabulary): number {
  if (turn.polarity === null) return 0
  const answers = turn.polarity === 'yes' ? book.yes : book.no
  const wanted = condition.quotes.some(quote => {
    const words = quote.map(folded => ({ folded, stem: folded, start: 0, end: 0, afterBreak: false }))
    return answers.lengthAt(words, 0) === quote.length
  })
  return wanted ? 1.5 : 0
}

function fitOf(alternative: Alternative, answer: Answer, book: Vocabulary): number {
  if (alternative.negated) return fitOfNegated(alternative, answer, book)
  const { turn } = answer
  const { signs } = alternative
  const numbers = signs.filter(sign => sign.by === 'number')
  if (numbers.length > 0 && !numbers.some(sign => turn.said.has(sign.key))) return 0
  let found = foundStems(signs, turn.said, book)
  for (const sign of signs) {
    if (sign.by === 'number' && turn.said.has(sign.key)) found += 1
    if (sign.by === 'concept') found += conceptIn(alternative, sign.concept, turn)
  }
  if (found === 0 && turn.polarity === 'yes' && turn.plain) found = inQuestion(alternative, answer.question, book)
  const weight = weigh(found, signs.length)
  return weight > 0 && alternative.asking && turn.asksOpenly ? weight + ASKED : weight
}

function weigh(found: number, wanted: number): number {
  const coverage = wanted === 0 ? 0 : found / wanted
  if (found === 0 || (coverage < LEAST_COVERAGE && found < 2)) return 0
  return found + coverage / 2
}

function conceptIn(alternative: Alternative, concept: Concept, turn: Turn): number {
  if (concept === 'anything') {
    // Who wants something else does not say no; otherwise any answer is one.
    const wanted = !alternative.wanting || (turn.polarity !== 'no' && !turn.concepts.has('done'))
    return wanted ? ANY_ANSWER : 0
  }
  if (concept === 'name' || concept === 'details') return isStatement(turn) ? STATEMENT : 0
  if (concept === 'email') return turn.text.includes('@') || /\b(arroba|at)\b/i.test(turn.text) ? 1 : 0
  if (!turn.concepts.has(concept)) return 0
  return (concept === 'agree' || concept === 'decline') && !turn.plain ? ANSWER_AND_MORE : 1
}

function isStatement(turn: Turn): boolean {
  return (
    !turn.asks && !turn.plain && turn.substance > 0 && !turn.concepts.has('person') && !turn.concepts.has('goodbye')
  )
}

/** "yes" takes up what the agent asked. */
function inQuestion(alternative: Alternative, question: Turn | null, book: Vocabulary): number {
  if (question === null) return 0
  return foundStems(alternative.signs, question.said, book) * BY_QUESTION
}

/** "Does not want X" holds for a refusal, and for a turn that denies X. */
function fitOfNegated(alternative: Alternative, { turn, question }: Answer, book: Vocabulary): number {
  const stems = alternative.signs.filter(sign => sign.by === 'stem')
  let denied = foundStems(stems, turn.denied, book)
  for (const sign of alternative.signs)
    if (sign.by === 'concept' && sign.concept === 'anything' && turn.concepts.has('done')) denied += 1
  const refused = turn.polarity === 'no' || (turn.concepts.has('done') && turn.polarity === null)
  const base = refused && turn.plain ? 1 : refused && stems.length === 0 ? ANSWER_AND_MORE : 0
  const asked = base > 0 ? inQuestion(alternative, question, book) / 2 : 0
  const found = base + denied + asked
  return found < HOLDS ? 0 : found + found / (2 * (1 + alternative.signs.length))
}

/** How many of the signs' stems are there; near-synonyms count less, and no word counts twice. */
function foundStems(signs: Alternative['signs'], stems: ReadonlySet<string>, book: Vocabulary): number {
  const wanted = signs.flatMap(sign => (sign.by === 'stem' ? [sign.stem] : []))
  const exact = wanted.filter(stem => stems.has(stem))
  const groups = new Set<number>()
  for (const stem of stems) {
    const group = exact.includes(stem) ? undefined : book.groupOf.get(stem)
    if (group !== undefined) groups.add(group)
  }
  const alike = wanted.filter(stem => !stems.has(stem) && groups.has(book.groupOf.get(stem) ?? -1))
  return exact.length + alike.length * ALIKE
}
