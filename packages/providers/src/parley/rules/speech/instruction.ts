import { type Language, languageOf } from '../language.ts'
import { type Clause, withoutQuotes } from './clause.ts'
import { SPLITTING_ENGLISH, sayInEnglish } from './english.ts'
import { SPLITTING_SPANISH, sayInSpanish } from './spanish.ts'

/** What an instruction makes the agent say: sentences, in order. Empty where it only tells how to behave. */
export interface Speech {
  readonly sentences: readonly string[]
  /** Those that ask the caller something. */
  readonly questions: readonly string[]
}

const MOST_CHARACTERS = 8192
const MOST_SENTENCES = 64
/** What is to be said in a case, and nobody here knows whether it is the case. */
const ON_CONDITION = /^(?:if|when|whenever|unless|once|while|in case|si|cuando|mientras|en caso|una vez)(?!\p{L})/iu

/**
 * Turns an instruction into speech. What is in quotation marks is said as it is; "ask", "tell", "greet" and the like
 * are turned to the caller; sentences that are no instruction are said as they are; guidance ("Be brief.", "If…") is
 * not said.
 */
export function speechOf(instruction: string, language: Language): Speech {
  const text = instruction.slice(0, MOST_CHARACTERS)
  const tongue = languageOf(text, language)
  const { marked, quotes } = withoutQuotes(text)
  const sentences = sentencesOf(marked)
    .slice(0, MOST_SENTENCES)
    .flatMap(sentence => clausesOf(sentence, tongue))
    .flatMap(clause => said({ text: clause.trim(), quotes }, tongue))
  return { sentences, questions: sentences.flatMap(questionsIn) }
}

/** The questions of a text that was said. */
export function questionsIn(text: string): string[] {
  return sentencesOf(text.slice(0, MOST_CHARACTERS)).filter(sentence => /\?["'”’»)]?$/.test(sentence))
}

function said(clause: Clause, language: Language): string[] {
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

/** "Greet the caller and ask for their name" is two: cut before verbs that begin an instruction. */
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
