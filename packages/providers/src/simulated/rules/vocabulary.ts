import type { Language } from './language.ts'
import type { Concept, Lexicon } from './lexicon.ts'
import { ENGLISH } from './lexicon-english.ts'
import { SPANISH } from './lexicon-spanish.ts'
import { PhraseBook } from './phrase-book.ts'
import { stemOf } from './stem.ts'

/** A lexicon made ready for looking things up. */
export interface Vocabulary extends Omit<Lexicon, 'yes' | 'yesAlone' | 'yesAnywhere' | 'no' | 'politeness' | 'alike'> {
  readonly language: Language
  readonly yes: PhraseBook
  readonly yesAlone: PhraseBook
  readonly yesAnywhere: PhraseBook
  readonly no: PhraseBook
  readonly politeness: PhraseBook
  readonly inConditions: readonly (readonly [Concept, PhraseBook])[]
  readonly inTurns: readonly (readonly [Concept, PhraseBook])[]
  /** The group of near-synonyms that a stem belongs to. */
  readonly groupOf: ReadonlyMap<string, number>
}

const VOCABULARIES: Readonly<Record<Language, Vocabulary>> = { en: ready('en', ENGLISH), es: ready('es', SPANISH) }

export function vocabulary(language: Language): Vocabulary {
  return VOCABULARIES[language]
}

function ready(language: Language, lexicon: Lexicon): Vocabulary {
  const concepts = Object.keys(lexicon.wordsOfConcepts) as Concept[]
  const books = (side: 0 | 1) =>
    concepts.map(concept => [concept, new PhraseBook(lexicon.wordsOfConcepts[concept][side])] as const)
  const groups = lexicon.alike.flatMap((words, group) => words.map(word => [stemOf(word, language), group] as const))
  return {
    ...lexicon,
    language,
    yes: new PhraseBook(lexicon.yes),
    yesAlone: new PhraseBook(lexicon.yesAlone),
    yesAnywhere: new PhraseBook(lexicon.yesAnywhere),
    no: new PhraseBook(lexicon.no),
    politeness: new PhraseBook(lexicon.politeness),
    inConditions: books(0),
    inTurns: books(1),
    groupOf: new Map(groups),
  }
}
