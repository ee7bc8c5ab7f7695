import type { Language } from '../language.ts'
import { numberAt } from '../numbers.ts'
import { PhraseMatcher, phrases } from '../phrase-matcher.ts'
import { vocabulary } from '../vocabulary.ts'
import { type Word, wordsOf } from '../words.ts'
import { answerWords } from './answer.ts'

const MAX_WORDS = 5

/** Phrases before a name: `sure` ones precede only names, `likely` ones also other words. */
const OPENINGS: Readonly<Record<Language, { readonly sure: PhraseMatcher; readonly likely: PhraseMatcher }>> = {
  en: {
    sure: new PhraseMatcher(
      phrases(
        'my name is,the name is,name is,my names,my first name is,my last name is,i am called,under the name of,under the name,in the name of,full name is',
      ),
    ),
    likely: new PhraseMatcher(phrases('this is,i am,it is,that is,speaking to,for')),
  },
  es: {
    sure: new PhraseMatcher(
      phrases('me llamo,mi nombre es,mi nombre completo es,el nombre es,a nombre de,mi apellido es,se llama'),
    ),
    likely: new PhraseMatcher(phrases('soy,es,habla,le habla')),
  },
}
/** What people say of themselves after a `likely` opening. */
const STATES: Readonly<Record<Language, ReadonlySet<string>>> = {
  en: new Set('new here fine sorry late sick ill busy ready sure alone'.split(' ')),
  es: new Set('nuevo nueva aqui enfermo enferma'.split(' ')),
}
/** Particles inside names. */
const PARTICLES = new Set('de la las los del van von der den da dos di bin al san y'.split(' '))

/**
 * The name that the turn gives: after "my name is…"; after "I'm…" when it begins with a capital or was `requested`; or a
 * short answer as a whole when it was `requested`. Null when there is none.
 */
export function nameIn(text: string, requested: boolean, language: Language): string | null {
  const words = wordsOf(text, language)
  const { sure, likely } = OPENINGS[language]
  for (let at = 0; at < words.length; at++) {
    const opening = sure.lengthAt(words, at)
    const name = opening > 0 ? nameFrom(text, words, at + opening, language) : null
    if (name !== null) return name
  }
  for (let at = 0; at < words.length; at++) {
    const opening = likely.lengthAt(words, at)
    const next = words[at + opening]
    if (opening === 0 || STATES[language].has(next?.folded ?? '')) continue
    const capital = next !== undefined && /\p{Lu}/u.test(text[next.start]!) && text !== text.toUpperCase()
    const name = capital || requested ? nameFrom(text, words, at + opening, language) : null
    if (name !== null) return name
  }
  return requested ? shortAnswer(text, words, language) : null
}

/** The whole turn as a name, when it has at most five words and none has another meaning; else null. */
export function shortAnswer(text: string, words: readonly Word[], language: Language): string | null {
  const rest = answerWords(words, language)
  const name = nameFrom(text, rest, 0, language)
  return name !== null && rest.length <= MAX_WORDS ? name : null
}

function nameFrom(text: string, words: readonly Word[], from: number, language: Language): string | null {
  let to = from
  while (to < words.length && to - from < MAX_WORDS && belongs(words, to, from, language)) to++
  while (to > from && PARTICLES.has(words[to - 1]!.folded)) to--
  if (to === from || countsMoreThanNames(words.slice(from, to), language)) return null
  return capitals(text.slice(words[from]!.start, words[to - 1]!.end))
}

function belongs(words: readonly Word[], at: number, from: number, language: Language): boolean {
  const word = words[at]!
  if (at > from && word.afterBreak) return false
  if (/[0-9]/.test(word.folded)) return false
  // The parts of a contraction such as "I'm" have the same position in the text.
  if (at > from && word.start === words[at - 1]!.start) return false
  if (PARTICLES.has(word.folded)) return at > from && (language === 'es' ? !endsName(words, at) : word.folded !== 'y')
  const vocab = vocabulary(language)
  return !vocab.grammar.has(word.folded) && !vocab.framing.has(word.folded) && !vocab.yesAnywhere.lengthAt(words, at)
}

/** Whether more than half of the words are numbers: "nine nine nine nine" is no name. */
function countsMoreThanNames(words: readonly Word[], language: Language): boolean {
  const numbers = words.filter((word, at) => !PARTICLES.has(word.folded) && numberAt(words, at, language) !== null)
  return numbers.length * 2 > words.length
}

/** Whether the particle ends the name: in "Ana y quiero una cita" the "y" joins sentences, not names. */
function endsName(words: readonly Word[], at: number): boolean {
  const next = words[at + 1]
  const vocab = vocabulary('es')
  return next === undefined || vocab.grammar.has(next.folded)
    ? !PARTICLES.has(next?.folded ?? '')
    : words[at]!.folded === 'y'
}

/** The name with capitals, because a recogniser may write it in lower case. */
function capitals(name: string): string {
  const collapsed = name.replace(/\s+/g, ' ')
  if (collapsed !== collapsed.toLowerCase()) return collapsed
  return collapsed
    .split(' ')
    .map(word => (PARTICLES.has(word) ? word : word.replace(/^\p{L}/u, letter => letter.toUpperCase())))
    .join(' ')
}
