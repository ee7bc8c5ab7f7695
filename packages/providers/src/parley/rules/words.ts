import type { Language } from './language.ts'
import { stemOf } from './stem.ts'

/** A word of a text. `start` and `end` say where it stands there. */
export interface Word {
  /** In small letters, without accents. */
  readonly folded: string
  readonly stem: string
  readonly start: number
  readonly end: number
  /** Punctuation stands between the word before and this one. */
  readonly afterBreak: boolean
}

/** More of one text is not looked at: a turn of a caller is shorter, and so is an instruction worth its name. */
const MOST_CHARACTERS = 8192

/** English words that were written together, in parts; also without the apostrophe, as recognisers write them. */
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

/** Anything but blanks and the signs that join words. */
const BREAK = /[^\s\-'’#*+&/]/u
const PLAIN = /^[ -~]*$/

/** Small letters, no accents. */
export function fold(text: string): string {
  if (PLAIN.test(text)) return text.toLowerCase()
  return text
    .normalize('NFD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
}

/** The words of the first 8192 characters. */
export function wordsOf(text: string, language: Language): Word[] {
  const looked = text.slice(0, MOST_CHARACTERS)
  const words: Word[] = []
  let before = 0
  for (const match of looked.matchAll(/[\p{L}\p{N}\p{M}]+(?:['’]\p{L}+)?/gu)) {
    const start = match.index
    const end = start + match[0].length
    const afterBreak = start > before + 1 || looked[before] !== ' ' ? BREAK.test(looked.slice(before, start)) : false
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
