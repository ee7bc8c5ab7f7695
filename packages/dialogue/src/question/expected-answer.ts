import { foldedTextOf, foldedTokensOf } from '../lexicon/lexicon.ts'
import type { AnswerField, ExpectedAnswer, NumberLength, Question } from './question.ts'
import { ENGLISH_QUESTIONS, type QuestionPatterns, SPANISH_QUESTIONS } from './question-patterns.ts'

const PATTERNS: Readonly<Record<string, QuestionPatterns>> = { en: ENGLISH_QUESTIONS, es: SPANISH_QUESTIONS }
/** Longer words between commas and "or" are no choices but sentences. */
const MAX_CHOICE_TOKENS = 4
/** In a text without a question mark, up to this many sentences at its end may be the question ("Key in your number. Or press 0."). */
const MAX_SENTENCES = 3
const UNKNOWN: ExpectedAnswer = { kind: 'unknown' }

/** What kind of answer a question asks for: by the agent's words, else by the fields, else by the conditions of the edges. */
export function expectedAnswer(question: Question, languages: readonly string[]): ExpectedAnswer {
  const patterns = languages.flatMap(language => PATTERNS[language] ?? [])
  const sentences = questionsIn(question.agentWords)
  const asked = sentences[0] ?? ''
  const expected = bySentences(sentences, patterns)
  if (expected.kind === 'open') return withChoices(expected.kind, question)
  if (expected.kind === 'number' && expected.digits === null)
    return { kind: 'number', digits: lengthOfExamples(question.fields) }
  if (expected.kind !== 'unknown') return expected
  const [field] = question.fields
  if (field !== undefined && question.fields.length === 1) return byField(field, patterns)
  return decidesYesOrNo(question, languages) && asked.endsWith('?')
    ? { kind: 'yes-no' }
    : withChoices('unknown', question)
}

/** Whether an edge of the question's node is for a yes or a no. */
export function decidesYesOrNo({ conditions }: Pick<Question, 'conditions'>, languages: readonly string[]): boolean {
  const patterns = languages.flatMap(language => PATTERNS[language] ?? [])
  return conditions.some(condition =>
    patterns.some(({ yesNoCondition }) => yesNoCondition.test(foldedTextOf(condition))),
  )
}

/** The length of the numbers that the flow gives as examples; null: it gives none. */
function lengthOfExamples(fields: Question['fields']): NumberLength | null {
  const examples = fields.flatMap(field => field.examples ?? [])
  const lengths = examples.flatMap(example => (/^\d{2,}$/.test(example) ? [example.length] : []))
  if (lengths.length === 0 || lengths.length < examples.length) return null
  return { min: Math.min(...lengths), max: Math.max(...lengths), isExample: true }
}

function withChoices(
  kind: 'open' | 'unknown',
  { fields, conditions }: Pick<Question, 'fields' | 'conditions'>,
): ExpectedAnswer {
  const choices = fields.flatMap(field => field.choices ?? [])
  const words = (choices.length > 0 ? choices : conditions).flatMap(foldedTokensOf)
  return words.length === 0 ? { kind } : { kind, words: new Set(words) }
}

/** The last question of the text, else its last sentences, the last first; in lower case and without accents. */
function questionsIn(text: string): readonly string[] {
  const sentences = foldedTextOf(text)
    .split(/(?<=[.?!])\s+/)
    .map(sentence => sentence.replace(/[¿¡"“”]/g, '').trim())
    .filter(sentence => sentence !== '')
  const question = sentences.findLast(sentence => sentence.endsWith('?'))
  return question === undefined ? sentences.slice(-MAX_SENTENCES).reverse() : [question]
}

function bySentences(sentences: readonly string[], patterns: readonly QuestionPatterns[]): ExpectedAnswer {
  for (const sentence of sentences)
    for (const own of patterns) {
      const expected = bySentence(sentence, own)
      if (expected.kind !== 'unknown') return expected
    }
  return UNKNOWN
}

function bySentence(sentence: string, patterns: QuestionPatterns): ExpectedAnswer {
  if (sentence === '') return UNKNOWN
  const number = numberIn(sentence, patterns)
  if (number !== null) return number
  if (patterns.address.test(sentence)) return { kind: 'address' }
  if (patterns.spelling.test(sentence)) return { kind: 'spelling' }
  if (patterns.name.test(sentence)) return { kind: 'name', isFull: patterns.fullName.test(sentence) }
  if (patterns.quantity.test(sentence)) return { kind: 'quantity' }
  const words = choicesIn(sentence, patterns)
  if (words !== null) return { kind: 'choice', words }
  if (patterns.date.test(sentence)) return { kind: 'date' }
  if (patterns.open.test(sentence)) return { kind: 'open' }
  return patterns.yesNo.test(sentence) ? { kind: 'yes-no' } : UNKNOWN
}

function numberIn(sentence: string, patterns: QuestionPatterns): ExpectedAnswer | null {
  const counted = patterns.countedDigits.exec(sentence)?.[1]
  if (counted !== undefined) {
    const count = patterns.digitCounts[counted] ?? Number(counted)
    return { kind: 'number', digits: { min: count, max: count } }
  }
  for (const [pattern, min, max] of patterns.numbers)
    if (pattern.test(sentence)) return { kind: 'number', digits: { min, max } }
  return patterns.number.test(sentence) ? { kind: 'number', digits: null } : null
}

/** The words of the choices around "or"; null: the sentence offers none. */
function choicesIn(sentence: string, { or }: QuestionPatterns): ReadonlySet<string> | null {
  if (!or.test(sentence)) return null
  const parts = sentence.split(new RegExp(`,|${or.source}`)).map(foldedTokensOf)
  const last = parts.at(-1) ?? []
  if (parts.length < 2 || last.length === 0 || last.length > MAX_CHOICE_TOKENS) return null
  return new Set(parts.flatMap((part, index) => (index === 0 ? part.slice(-MAX_CHOICE_TOKENS) : part)))
}

function byField(
  { name, description, type, choices }: AnswerField,
  patterns: readonly QuestionPatterns[],
): ExpectedAnswer {
  if (type === 'boolean') return { kind: 'yes-no' }
  if (type === 'enum') return { kind: 'choice', words: new Set((choices ?? []).flatMap(foldedTokensOf)) }
  const described = foldedTextOf(`your ${name.replaceAll('_', ' ')}. ${description}`)
  for (const own of patterns) {
    const expected = bySentence(described, { ...own, yesNo: /$^/, or: /$^/ })
    if (expected.kind !== 'unknown' && expected.kind !== 'open') return expected
  }
  return type === 'number' ? { kind: 'quantity' } : UNKNOWN
}
