import { ENGLISH } from './english.ts'
import { NEUTRAL } from './neutral.ts'
import { SPANISH } from './spanish.ts'

/** Words of one language, as data: one entry a line or several with blanks between; `phrases` have one entry a line. */
export interface LexiconData {
  /** BCP 47 primary tag. */
  readonly language: string
  /** Nobody ends a sentence with one of these: articles, conjunctions, prepositions, subject pronouns. */
  readonly dangling: string
  /** Sentences seldom end with one of these: auxiliaries, verbs that want an object. */
  readonly weaklyDangling: string
  /** "um": the speaker keeps the turn. Phrases. */
  readonly fillers: string
  /** "let me see": the speaker asks for time. Phrases. */
  readonly hesitations: string
  /** Whole turns, however short. Phrases. */
  readonly answers: string
  /** What ends a turn, whatever stands before it. Phrases. */
  readonly closers: string
  readonly questionWords: string
  /** 0 to 9, and what stands for them. */
  readonly digits: string
  /** Number words of more than one digit. */
  readonly numbers: string
  /** "number", "card": digits that follow are many. */
  readonly numberNames: string
  /** "spelled": single letters follow. */
  readonly spellingNames: string
  /** Parts of addresses that want something after them ("dot"), and months (a day or a year may follow). */
  readonly connectors: string
  readonly months: string
  /** What a listener says without wanting the turn. Phrases. */
  readonly backchannels: string
  /** Of those, what would answer a question as well. Phrases. */
  readonly assents: string
  /** What interrupts whoever is speaking. Phrases. */
  readonly stops: string
  /** Phrases. */
  readonly greetings: string
  /** What the agent says while it listens. Phrases. */
  readonly agentBackchannels: string
}

/** A language's words, ready to be looked up. Single words as written in lower case; phrases as `PhraseSet`. */
export interface Lexicon {
  readonly language: string
  readonly dangling: ReadonlySet<string>
  readonly weaklyDangling: ReadonlySet<string>
  readonly fillers: PhraseSet
  readonly hesitations: PhraseSet
  readonly answers: PhraseSet
  readonly closers: PhraseSet
  readonly questionWords: ReadonlySet<string>
  readonly digits: ReadonlySet<string>
  readonly numbers: ReadonlySet<string>
  readonly numberNames: ReadonlySet<string>
  readonly spellingNames: ReadonlySet<string>
  readonly connectors: ReadonlySet<string>
  readonly months: ReadonlySet<string>
  readonly backchannels: PhraseSet
  readonly assents: PhraseSet
  readonly stops: PhraseSet
  readonly greetings: PhraseSet
  readonly agentBackchannels: readonly string[]
}

/** Phrases of one or more words, looked up inside a list of tokens. */
export class PhraseSet {
  readonly #phrases = new Set<string>()
  /** Beginnings of phrases of several words. */
  readonly #beginnings = new Set<string>()
  readonly #longest: number

  constructor(phrases: Iterable<readonly string[]>) {
    let longest = 0
    for (const phrase of phrases) {
      this.#phrases.add(phrase.join(' '))
      for (let length = 1; length < phrase.length; length++) this.#beginnings.add(phrase.slice(0, length).join(' '))
      longest = Math.max(longest, phrase.length)
    }
    this.#longest = longest
  }

  /** How many tokens the longest phrase takes that begins at `from`; 0: none does. */
  lengthAt(tokens: readonly string[], from: number): number {
    for (let length = Math.min(this.#longest, tokens.length - from); length > 0; length--)
      if (this.#phrases.has(tokens.slice(from, from + length).join(' '))) return length
    return 0
  }

  /** How many tokens the longest phrase takes that the tokens end with; 0: none does. */
  lengthAtEnd(tokens: readonly string[]): number {
    for (let length = Math.min(this.#longest, tokens.length); length > 0; length--)
      if (this.#phrases.has(tokens.slice(-length).join(' '))) return length
    return 0
  }

  /** Whether nothing but one phrase stands there. */
  isWhole(tokens: readonly string[]): boolean {
    return tokens.length > 0 && this.lengthAt(tokens, 0) === tokens.length
  }

  /** Whether the tokens from `from` on may yet become a phrase. */
  isBeginning(tokens: readonly string[], from: number): boolean {
    return tokens.length - from < this.#longest && this.#beginnings.has(tokens.slice(from).join(' '))
  }
}

/** Lower case, marks gone, hyphens and blanks part tokens; digits stay together. */
export function tokensOf(text: string): string[] {
  return text
    .normalize('NFC')
    .toLowerCase()
    .replace(/(\d)[-.,/](?=\d)/g, '$1')
    .split(/[^\p{L}\p{M}\p{N}'’@#*]+/u)
    .map(token => token.replace(/’/g, "'").replace(/^'+|'+$/g, ''))
    .filter(token => token !== '')
}

/** As `tokensOf`, without accents: recognisers leave them out as they like. */
export function foldedTokensOf(text: string): string[] {
  return tokensOf(text.normalize('NFD').replace(/\p{M}/gu, ''))
}

/** The lexicons of `languages` that there are, in their order; where there is none, what is the same in most languages. */
export function lexiconsOf(languages: readonly string[]): readonly Lexicon[] {
  const wanted = languages.map(language => language.toLowerCase().split('-')[0]!)
  const found = [...new Set(wanted)].flatMap(language => LEXICONS.filter(lexicon => lexicon.language === language))
  return found.length > 0 ? found : LEXICONS.slice(-1)
}

/** All phrases of one kind, in every language given, without accents. */
export function foldedPhrases(
  data: readonly Lexicon[],
  kind: 'fillers' | 'backchannels' | 'assents' | 'stops' | 'greetings',
): PhraseSet {
  const languages = new Set(data.map(({ language }) => language))
  const texts = DATA.filter(({ language }) => languages.has(language)).map(entry => entry[kind])
  return new PhraseSet(texts.flatMap(text => lines(text).map(foldedTokensOf)))
}

/** The neutral one last. */
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
    answers: phrases(data.answers),
    closers: phrases(data.closers),
    questionWords: words(data.questionWords),
    digits: words(data.digits),
    numbers: words(data.numbers),
    numberNames: words(data.numberNames),
    spellingNames: words(data.spellingNames),
    connectors: words(data.connectors),
    months: words(data.months),
    backchannels: phrases(data.backchannels),
    assents: phrases(data.assents),
    stops: phrases(data.stops),
    greetings: phrases(data.greetings),
    agentBackchannels: lines(data.agentBackchannels),
  }
}

function lines(text: string): string[] {
  return text
    .split(/[\n;]/)
    .map(line => line.trim())
    .filter(line => line !== '')
}
