import type { Language } from './language.ts'
import { stemOf } from './stem.ts'

/** A word of a text, at the characters `start` to `end`, exclusive. */
export interface Word {
  /** In lower case, without accents. */
  readonly folded: string
  readonly stem: string
  readonly start: number
  readonly end: number
  /** Punctuation separates it from the previous word. */
  readonly afterBreak: boolean
}

/** Longer texts are truncated; turns and instructions are normally shorter. */
const MAX_CHARACTERS = 8192

/** English contractions and their parts, also without the apostrophe, as recognisers write them. */
const JOINED: Readonly<Record<string, string>> = {
  cannot: 'can not',
  "can't": 'can not',
  "won't": 'will not',
  "shan't": 'shall not',
  cant: 'can not',
  wont: 'will not',
  dont: 'do not',
  doesnt: 'does not',
  didnt: 'did not',
  isnt: 'is not',
  arent: 'are not',
  wasnt: 'was not',
  havent: 'have not',
  hasnt: 'has not',
  couldnt: 'could not',
  wouldnt: 'would not',
  shouldnt: 'should not',
  im: 'i am',
  ive: 'i have',
  thats: 'that is',
  whats: 'what is',
  lets: 'let us',
}

const TAILS: Readonly<Record<string, string>> = { m: 'am', re: 'are', ll: 'will', d: 'would', ve: 'have', s: 'is' }

/** Any character but blanks and those that join words. */
const BREAK = /[^\s\-'’#*+&/]/u
const PLAIN = /^[ -~]*$/

/** The text in lower case, without accents. */
export function fold(text: string): string {
  if (PLAIN.test(text)) return text.toLowerCase()
  return text
    .normalize('NFD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
}

/** The words of the first 8192 characters. */
export function wordsOf(text: string, language: Language): Word[] {
  const examined = text.slice(0, MAX_CHARACTERS)
  const words: Word[] = []
  let before = 0
  for (const match of examined.matchAll(/[\p{L}\p{N}\p{M}]+(?:['’]\p{L}+)?/gu)) {
    const start = match.index
    const end = start + match[0].length
    const afterBreak =
      start > before + 1 || examined[before] !== ' ' ? BREAK.test(examined.slice(before, start)) : false
    const parts = language === 'en' ? partsOf(fold(match[0]).replace('’', "'")) : [fold(match[0])]
    parts.forEach((folded, i) => {
      words.push({ folded, stem: stemOf(folded, language), start, end, afterBreak: afterBreak && i === 0 })
    })
    before = end
  }
  return words
}

function partsOf(word: string): string[] {
  if (Object.hasOwn(JOINED, word)) return JOINED[word]!.split(' ')
  const at = word.indexOf("'")
  if (at < 0) return [word]
  if (word.endsWith("n't")) return [word.slice(0, -3), 'not']
  const tail = word.slice(at + 1)
  return [word.slice(0, at), Object.hasOwn(TAILS, tail) ? TAILS[tail]! : tail]
}
