import { primaryTag } from '../../text-to-speech/request.ts'

/** The languages whose words the rules know. */
export type Language = 'en' | 'es'

const TELLING: Readonly<Record<Language, ReadonlySet<string>>> = {
  en: new Set(
    'the a of to and is are you they for ask tell say caller what which whether i my do with it in on'.split(' '),
  ),
  es: new Set(
    'el la los las de del que y es un una para por con al su se lo le cliente qué si pide di pregunta'.split(' '),
  ),
}

/** The language of `text` by its commonest words; `otherwise` where they do not tell. */
export function languageOf(text: string, otherwise: Language): Language {
  const words = text
    .slice(0, 2000)
    .toLowerCase()
    .split(/[^\p{L}]+/u)
  const count = (language: Language) => words.filter(word => TELLING[language].has(word)).length
  const [english, spanish] = [count('en'), count('es')]
  if (english === spanish) return otherwise
  return english > spanish ? 'en' : 'es'
}

/** The language of a BCP 47 tag; for one that the rules do not know ("multi"), that of `sample`. */
export function languageOfTag(tag: string, sample: string): Language {
  const primary = primaryTag(tag)
  return primary === 'en' || primary === 'es' ? primary : languageOf(sample, 'en')
}
