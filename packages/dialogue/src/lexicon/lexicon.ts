import { ENGLISH } from './english.ts'
import type { LexiconData } from './lexicon-data.ts'
import { NEUTRAL } from './neutral.ts'
import { PhraseSet } from './phrase-set.ts'
import { SPANISH } from './spanish.ts'

/** The lexicon of a language, prepared for lookup: single words in lower case, phrases as `PhraseSet`. */
export interface Lexicon {
  readonly language: string
  readonly dangling: ReadonlySet<string>
  readonly weaklyDangling: ReadonlySet<string>
  readonly fillers: PhraseSet
  readonly hesitations: PhraseSet
  readonly undecided: PhraseSet
  readonly answers: PhraseSet
  readonly closers: PhraseSet
  readonly questionWords: ReadonlySet<string>
  readonly digits: ReadonlySet<string>
  readonly numbers: ReadonlySet<string>
  readonly numberNames: ReadonlySet<string>
  readonly spellingNames: ReadonlySet<string>
  readonly connectors: ReadonlySet<string>
  readonly months: ReadonlySet<string>
  readonly announcers: ReadonlySet<string>
  readonly dateWords: ReadonlySet<string>
  readonly proVerbs: ReadonlySet<string>
  readonly monthPrepositions: ReadonlySet<string>
  readonly ordinals: ReadonlySet<string>
  readonly agentBackchannels: readonly string[]
}

/** Splits text into tokens: lower case, without punctuation, separated at blanks and hyphens; digits stay together. */
export function tokensOf(text: string): string[] {
  return text
    .normalize('NFC')
    .toLowerCase()
    .replace(/(\d)[-.,/](?=\d)/g, '$1')
    .split(/[^\p{L}\p{M}\p{N}'’@#*]+/u)
    .map(token => token.replace(/’/g, "'").replace(/^'+|'+$/g, ''))
    .filter(token => token !== '')
}

/** As `tokensOf`, without accents, which recognisers write inconsistently. */
export function foldedTokensOf(text: string): string[] {
  return tokensOf(text.normalize('NFD').replace(/\p{M}/gu, ''))
}

/** The text in lower case and without accents. */
export function foldedTextOf(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
}

/** The lexicons of `languages`, in that order; the neutral lexicon if there is none for them. */
export function lexiconsOf(languages: readonly string[]): readonly Lexicon[] {
  const wanted = languages.map(language => language.toLowerCase().split('-')[0]!)
  const found = [...new Set(wanted)].flatMap(language => LEXICONS.filter(lexicon => lexicon.language === language))
  return found.length > 0 ? found : LEXICONS.slice(-1)
}

/** All phrases of one kind in the languages of `data`, without accents. */
export function foldedPhrases(
  data: readonly Lexicon[],
  kind: 'fillers' | 'backchannels' | 'assents' | 'acceptances' | 'corrections' | 'stops' | 'greetings',
): PhraseSet {
  const languages = new Set(data.map(({ language }) => language))
  const texts = DATA.filter(({ language }) => languages.has(language)).map(entry => entry[kind])
  return new PhraseSet(texts.flatMap(text => lines(text).map(foldedTokensOf)))
}

/** The neutral lexicon is the last. */
const DATA = [ENGLISH, SPANISH, NEUTRAL] as const
const LEXICONS: readonly Lexicon[] = DATA.map(load)

function load(data: LexiconData): Lexicon {
  const words = (text: string) => new Set(text.split(/\s+/).filter(word => word !== ''))
  const phrases = (text: string) => new PhraseSet(lines(text).map(tokensOf))
  return {
    language: data.language,
    dangling: words(data.dangling),
    weaklyDangling: words(data.weaklyDangling),
    fillers: phrases(data.fillers),
    hesitations: phrases(data.hesitations),
    undecided: phrases(data.undecided),
    answers: phrases(data.answers),
    closers: phrases(data.closers),
    questionWords: words(data.questionWords),
    digits: words(data.digits),
    numbers: words(data.numbers),
    numberNames: words(data.numberNames),
    spellingNames: words(data.spellingNames),
    connectors: words(data.connectors),
    months: words(data.months),
    announcers: words(data.announcers),
    dateWords: words(data.dateWords),
    proVerbs: words(data.proVerbs),
    monthPrepositions: words(data.monthPrepositions),
    ordinals: words(data.ordinals),
    agentBackchannels: lines(data.agentBackchannels),
  }
}

function lines(text: string): string[] {
  return text
    .split(/[\n;]/)
    .map(line => line.trim())
    .filter(line => line !== '')
}
