import { type Language, languageOf } from '../language.ts'
import { type Clause, withoutQuotes } from './clause.ts'
import { SPLITTING_ENGLISH, sayInEnglish } from './english.ts'
import { SPLITTING_SPANISH, sayInSpanish } from './spanish.ts'

/** The speech for an instruction: sentences in order. Empty when the instruction is only about behaviour. */
export interface Speech {
  readonly sentences: readonly string[]
  /** The sentences that are questions. */
  readonly questions: readonly string[]
}

const MAX_CHARACTERS = 8192
const MAX_SENTENCES = 64
/** Openings of conditional instructions, which are not spoken: the rules cannot evaluate their conditions. */
const ON_CONDITION = /^(?:if|when|whenever|unless|once|while|in case|si|cuando|mientras|en caso|una vez)(?!\p{L})/iu

/**
 * Turns an instruction into speech. Quotations are spoken literally, as are sentences that are no instruction.
 * Instructions such as "ask", "tell" and "greet" are rephrased to address the caller. Guidance ("Be brief.", "If…") is
 * left out.
 */
export function speechOf(instruction: string, language: Language): Speech {
  const text = instruction.slice(0, MAX_CHARACTERS)
  const detected = languageOf(text, language)
  const { marked, quotes } = withoutQuotes(text)
  const sentences = sentencesOf(marked)
    .slice(0, MAX_SENTENCES)
    .flatMap(sentence => clausesOf(sentence, detected))
    .flatMap(clause => speak({ text: clause.trim(), quotes }, detected))
  return { sentences, questions: sentences.flatMap(questionsIn) }
}

/** The questions in a spoken text. */
export function questionsIn(text: string): string[] {
  return sentencesOf(text.slice(0, MAX_CHARACTERS)).filter(sentence => /\?["'”’»)]?$/.test(sentence))
}

function speak(clause: Clause, language: Language): string[] {
  const speech = language === 'en' ? sayInEnglish(clause) : sayInSpanish(clause)
  return speech === null ? [] : [speech]
}

function sentencesOf(text: string): string[] {
  return text
    .split(/\n+/)
    .map(line => line.trim().replace(/^(?:[-*•#>]+|[0-9]{1,2}[.)])\s+/, ''))
    .flatMap(line => line.split(/(?<=[.!?…]["'”’»)]?)\s+(?=[^\p{Ll}\s])/u))
    .map(sentence => sentence.replaceAll('**', '').trim())
    .filter(sentence => sentence !== '')
}

/** Splits a sentence before each verb that begins an instruction: "Greet the caller and ask for their name" has two. */
function clausesOf(sentence: string, language: Language): string[] {
  if (ON_CONDITION.test(sentence)) return []
  const splitting = language === 'en' ? SPLITTING_ENGLISH : SPLITTING_SPANISH
  const clauses: string[] = []
  let from = 0
  for (const match of sentence.matchAll(/[,;]?\s(?:(?:and|then|y|e|luego|después)\s){1,2}|[,;]\s/giu)) {
    const next = match.index + match[0].length
    const verb = /^\p{L}+/u.exec(sentence.slice(next, next + 40))?.[0].toLowerCase() ?? ''
    if (!splitting.has(verb) || match.index < from) continue
    clauses.push(sentence.slice(from, match.index))
    from = next
  }
  return [...clauses, sentence.slice(from)].filter(clause => clause.trim() !== '')
}
