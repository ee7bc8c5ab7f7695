import { ConceptMatcher } from './concept-matcher.ts'
import type { Language } from './language.ts'
import type { Lexicon } from './lexicon.ts'
import { ENGLISH } from './lexicon-english.ts'
import { SPANISH } from './lexicon-spanish.ts'
import { PhraseMatcher } from './phrase-matcher.ts'
import { stemOf } from './stem.ts'

/** A lexicon prepared for lookups. */
export interface Vocabulary
  extends Omit<Lexicon, 'yes' | 'yesAlone' | 'yesAnywhere' | 'no' | 'politeness' | 'alike' | 'wordsOfConcepts'> {
  readonly language: Language
  readonly yes: PhraseMatcher
  readonly yesAlone: PhraseMatcher
  readonly yesAnywhere: PhraseMatcher
  readonly no: PhraseMatcher
  readonly politeness: PhraseMatcher
  readonly inConditions: ConceptMatcher
  readonly inTurns: ConceptMatcher
  /** The group of near-synonyms that a stem belongs to. */
  readonly groupOf: ReadonlyMap<string, number>
}

const VOCABULARIES: Readonly<Record<Language, Vocabulary>> = {
  en: prepared('en', ENGLISH),
  es: prepared('es', SPANISH),
}

export function vocabulary(language: Language): Vocabulary {
  return VOCABULARIES[language]
}

function prepared(language: Language, lexicon: Lexicon): Vocabulary {
  const groups = lexicon.synonyms.flatMap((words, group) => words.map(word => [stemOf(word, language), group] as const))
  return {
    ...lexicon,
    language,
    yes: new PhraseMatcher(lexicon.yes),
    yesAlone: new PhraseMatcher(lexicon.yesAlone),
    yesAnywhere: new PhraseMatcher(lexicon.yesAnywhere),
    no: new PhraseMatcher(lexicon.no),
    politeness: new PhraseMatcher(lexicon.politeness),
    inConditions: new ConceptMatcher(lexicon.wordsOfConcepts, 0),
    inTurns: new ConceptMatcher(lexicon.wordsOfConcepts, 1),
    groupOf: new Map(groups),
  }
}
