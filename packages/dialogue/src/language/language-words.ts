import { ENGLISH } from '../lexicon/english.ts'
import { foldedTokensOf } from '../lexicon/lexicon.ts'
import type { LexiconData } from '../lexicon/lexicon-data.ts'
import { SPANISH } from '../lexicon/spanish.ts'

/** The languages whose words are known. */
export type KnownLanguage = 'en' | 'es'

/** Everyday words of callers that the lexicons do not have. */
const MORE_WORDS: Readonly<Record<KnownLanguage, string>> = {
  en: `i you he she we they it my your name want wants appointment help book cancel change speak talk somebody someone
    there know when morning week month day call back please thank much thing people person time work`,
  es: `yo usted tu ustedes cita citas ayuda reservar cancelar cambiar hablar hablo habla alguien ahi semana mes dia llamar llamo
    llamada gracias favor persona hora trabajo quiero nombre tengo esta estoy para manana hola senorita mi pedir saber quisiera
    cambio problema pregunta consulta dinero factura pagar`,
}

/** Words that are also words of the other language, or parts of names in it ("Los Angeles", "Juan de la Cruz"). */
const AMBIGUOUS = new Set(
  `a an i o y e u no me he has son sin van dice once ten tan sea mi tu te se si su un real actual doctor doctora pin solo
    come fin pan cd ok okay oh ah eh em este mm mmm hm de del la las los el lo san santa don dona con es sra sr general
    plan hotel radio animal final total normal social control por era are hay ver dar ya dos ha he them`.split(/\s+/),
)

const WORDS: Readonly<Record<KnownLanguage, ReadonlySet<string>>> = {
  en: exclusive(wordsOf(ENGLISH, MORE_WORDS.en), wordsOf(SPANISH, MORE_WORDS.es)),
  es: exclusive(wordsOf(SPANISH, MORE_WORDS.es), wordsOf(ENGLISH, MORE_WORDS.en)),
}

/** How many words of `text` belong to each language alone, and how many it has in all. */
export function languageWords(text: string): Readonly<Record<KnownLanguage | 'all', number>> {
  const tokens = foldedTokensOf(text)
  const count = (language: KnownLanguage) => tokens.filter(token => WORDS[language].has(token)).length
  return { en: count('en'), es: count('es'), all: tokens.length }
}

function wordsOf(data: LexiconData, more: string): string[] {
  const { dangling, weaklyDangling, answers, closers, questionWords, digits, numbers, months, dateWords } = data
  return [dangling, weaklyDangling, answers, closers, questionWords, digits, numbers, months, dateWords, more].flatMap(
    foldedTokensOf,
  )
}

function exclusive(own: readonly string[], others: readonly string[]): ReadonlySet<string> {
  const shared = new Set(others)
  return new Set(own.filter(word => !shared.has(word) && !AMBIGUOUS.has(word)))
}
