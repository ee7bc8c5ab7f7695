import { foldedTextOf } from '../lexicon/lexicon.ts'
import type { KnownLanguage } from './language-words.ts'

/** What callers call the languages, in either language; folded. */
const NAMES: Readonly<Record<KnownLanguage, string>> = { en: 'english|ingles', es: 'spanish|espanol|castellano' }

/** What a request begins with. */
const REQUEST = `(?:${[
  '(?:do|can|could|may|would|will) (?:you|we|i)',
  "let'?s|please",
  "i(?:'d| would)? (?:only |just )?(?:like|prefer|want|need|speak|rather)",
  'hablas?|hablan|hables?|hablar|hablemos|hablamos|puedes?|podemos|podria|quiero|quisiera|prefiero|solo hablo|sigamos|continuemos|cambiar|cambie|atienden?',
].join('|')})`
/** What may follow the name of the language in a request. */
const END = '(?: (?:please|por favor|instead|now|ahora|if possible|si es posible|with me|conmigo))*$'
/** Words before the language in a turn that only names it. */
const ALONE = '(?:(?:yes|no|hi|hello|hola|si|sorry|perdon|uh|um|eh|in|en|to|a) )*'
/** "How do you say it in Spanish?" asks for a word. */
const ABOUT_WORDS = /\b(?:say|translate|called|spell|mean|dice|decir|traducir|llama|significa|escribe)\b/
const CANNOT = "(?:don'?t|do not|can'?t|cannot|no)(?: \\w+)? (?:speak|understand|hablo|hablamos|entiendo|comprendo)"

const LANGUAGES = Object.keys(NAMES) as KnownLanguage[]
const PATTERNS = LANGUAGES.map(language => ({
  language,
  alone: new RegExp(`^${ALONE}(?:${NAMES[language]})${END}`),
  asked: new RegExp(`\\b${REQUEST}\\b(?: [\\w']+){0,5}? (?:${NAMES[language]})${END}`),
  cannot: new RegExp(`\\b${CANNOT}(?: \\w+){0,2}? (?:${NAMES[language]})\\b`),
}))

/** The language that the caller asks to speak; null: none. "I don't speak English" asks for the other language. */
export function requestedLanguage(text: string): KnownLanguage | null {
  const folded = foldedTextOf(text)
    .replace(/[’]/g, "'")
    .replace(/[^a-z' ]+/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
  const unknown = PATTERNS.find(({ cannot }) => cannot.test(folded))
  if (unknown !== undefined) return LANGUAGES.find(language => language !== unknown.language) ?? null
  if (ABOUT_WORDS.test(folded)) return null
  return PATTERNS.find(({ alone, asked }) => alone.test(folded) || asked.test(folded))?.language ?? null
}
