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
  /** One of these words is in every text that the phrase is in; empty: it may be in any text. */
  readonly keywords: readonly string[]
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

/** The pattern signs that stand for no word of their own. */
const SIGNS: ReadonlySet<string> = new Set(['^', '$', '~', '+', '#'])

const LANGUAGES: ReadonlyMap<string, readonly PhrasePattern[]> = new Map(
  [ENGLISH_ANSWERS, SPANISH_ANSWERS].map(phrases => [phrases.language, patternsOf(phrases)]),
)

const COMBINED = new Map<string, readonly PhrasePattern[]>()

/** The patterns of these languages; those of all languages if none of them has any. */
export function phrasePatterns(languages: readonly string[]): readonly PhrasePattern[] {
  const wanted = new Set(languages.map(language => language.toLowerCase().split('-')[0]!))
  const found = [...LANGUAGES.keys()].filter(language => wanted.has(language))
  return patternsIn(found.length > 0 ? found : [...LANGUAGES.keys()])
}

/** The same array for the same languages, for which an index is made once. */
function patternsIn(languages: readonly string[]): readonly PhrasePattern[] {
  const key = languages.join(' ')
  const known = COMBINED.get(key)
  if (known !== undefined) return known
  const patterns = languages.flatMap(language => LANGUAGES.get(language)!)
  COMBINED.set(key, patterns)
  return patterns
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
        const expression = expressionOf(words, phrases.digits)
        return { class: name, weight: Number(weight), phrase, expression, keywords: keywordsOf(words) }
      }),
  )
}

/** The alternatives of the longest word that a phrase must have: long words are rare. */
function keywordsOf(words: readonly string[]): readonly string[] {
  const needed = words.filter(word => !SIGNS.has(word) && !word.startsWith('(')).map(word => word.split('/'))
  const shortest = (choices: readonly string[]) => Math.min(...choices.map(choice => choice.length))
  return needed.reduce((best, choices) => (shortest(choices) > shortest(best) ? choices : best), needed[0] ?? [])
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
