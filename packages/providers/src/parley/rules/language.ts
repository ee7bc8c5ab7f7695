import { primaryTag } from '../../text-to-speech/request.ts'

/** The languages that the rules support. */
export type Language = 'en' | 'es'

const COMMON_WORDS: Readonly<Record<Language, ReadonlySet<string>>> = {
  en: new Set(
    'the a of to and is are you they for ask tell say caller what which whether i my do with it in on'.split(' '),
  ),
  es: new Set(
    'el la los las de del que y es un una para por con al su se lo le cliente qué si pide di pregunta'.split(' '),
  ),
}

/** The language of `text` by its most common words; `otherwise` when both languages match equally. */
export function languageOf(text: string, otherwise: Language): Language {
  const words = text
    .slice(0, 2000)
    .toLowerCase()
    .split(/[^\p{L}]+/u)
  const count = (language: Language) => words.filter(word => COMMON_WORDS[language].has(word)).length
  const [english, spanish] = [count('en'), count('es')]
  if (english === spanish) return otherwise
  return english > spanish ? 'en' : 'es'
}

/** The language of a BCP 47 tag; for an unsupported tag such as "multi", the language of `sample`. */
export function languageOfTag(tag: string, sample: string): Language {
  const primary = primaryTag(tag)
  return primary === 'en' || primary === 'es' ? primary : languageOf(sample, 'en')
}
