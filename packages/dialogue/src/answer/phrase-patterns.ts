import { foldedTextOf } from '../lexicon/lexicon.ts'
import type { AnswerPhrases } from './answer-phrases.ts'
import { ENGLISH_ANSWERS } from './english-phrases.ts'
import type { AnswerClass } from './protocol.ts'
import { SPANISH_ANSWERS } from './spanish-phrases.ts'

/** What words tell apart. `recording`: a machine whose class the words leave open. */
export type SpokenClass = Exclude<AnswerClass, 'fax' | 'silence'> | 'recording'

export interface PhrasePattern {
  readonly class: SpokenClass
  readonly weight: number
  /** As written in the lexicon. */
  readonly phrase: string
  readonly expression: RegExp
}

const CLASSES: readonly SpokenClass[] = [
  'human',
  'recording',
  'voicemail',
  'mailbox_unavailable',
  'ivr',
  'screener',
  'announcement',
]

const LANGUAGES: ReadonlyMap<string, readonly PhrasePattern[]> = new Map(
  [ENGLISH_ANSWERS, SPANISH_ANSWERS].map(phrases => [phrases.language, patternsOf(phrases)]),
)

/** The patterns of these languages; those of all languages if none of them has any. */
export function phrasePatterns(languages: readonly string[]): readonly PhrasePattern[] {
  const wanted = new Set(languages.map(language => language.toLowerCase().split('-')[0]!))
  const found = [...LANGUAGES].filter(([language]) => wanted.has(language))
  return (found.length > 0 ? found : [...LANGUAGES]).flatMap(([, patterns]) => patterns)
}

/** The text as patterns expect it: lower case, without accents and punctuation, single blanks between words and at both ends. */
export function normalisedSpeech(text: string): string {
  return ` ${foldedTextOf(text)
    .replace(/[’`]/g, "'")
    .replace(/[^a-z0-9' ]+/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()} `
}

function patternsOf(phrases: AnswerPhrases): PhrasePattern[] {
  return CLASSES.flatMap(name =>
    phrases[name]
      .split('\n')
      .map(line => line.trim())
      .filter(line => line !== '')
      .map(line => {
        const [weight, ...words] = line.split(/\s+/)
        const phrase = words.join(' ')
        return { class: name, weight: Number(weight), phrase, expression: expressionOf(words, phrases.digits) }
      }),
  )
}

function expressionOf(words: readonly string[], digits: string): RegExp {
  const source = words.map(word => {
    if (word === '^') return '^'
    if (word === '$') return ' $'
    if (word === '+') return "(?: [a-z0-9']+){1,4}"
    if (word === '~') return "(?: [a-z0-9']+){0,4}"
    if (word === '#') return `(?: [0-9]+| (?:${digits.replaceAll(' ', '|')}))(?= )`
    const optional = word.startsWith('(')
    const choices = (optional ? word.slice(1, -1) : word).replaceAll('/', '|')
    return `(?: (?:${choices})(?= ))${optional ? '?' : ''}`
  })
  return new RegExp(source.join(''))
}
