import { ConceptBook } from './concept-book.ts'
import type { Language } from './language.ts'
import type { Lexicon } from './lexicon.ts'
import { ENGLISH } from './lexicon-english.ts'
import { SPANISH } from './lexicon-spanish.ts'
import { PhraseBook } from './phrase-book.ts'
import { stemOf } from './stem.ts'

/** A lexicon made ready for looking things up. */
export interface Vocabulary
  extends Omit<Lexicon, 'yes' | 'yesAlone' | 'yesAnywhere' | 'no' | 'politeness' | 'alike' | 'wordsOfConcepts'> {
  readonly language: Language
  readonly yes: PhraseBook
  readonly yesAlone: PhraseBook
  readonly yesAnywhere: PhraseBook
  readonly no: PhraseBook
  readonly politeness: PhraseBook
  readonly inConditions: ConceptBook
  readonly inTurns: ConceptBook
  /** The group of near-synonyms that a stem belongs to. */
  readonly groupOf: ReadonlyMap<string, number>
}

const VOCABULARIES: Readonly<Record<Language, Vocabulary>> = { en: ready('en', ENGLISH), es: ready('es', SPANISH) }

export function vocabulary(language: Language): Vocabulary {
  return VOCABULARIES[language]
}

function ready(language: Language, lexicon: Lexicon): Vocabulary {
  const groups = lexicon.alike.flatMap((words, group) => words.map(word => [stemOf(word, language), group] as const))
  return {
    ...lexicon,
    language,
    yes: new PhraseBook(lexicon.yes),
    yesAlone: new PhraseBook(lexicon.yesAlone),
    yesAnywhere: new PhraseBook(lexicon.yesAnywhere),
    no: new PhraseBook(lexicon.no),
    politeness: new PhraseBook(lexicon.politeness),
    inConditions: new ConceptBook(lexicon.wordsOfConcepts, 0),
    inTurns: new ConceptBook(lexicon.wordsOfConcepts, 1),
    groupOf: new Map(groups),
  }
}
