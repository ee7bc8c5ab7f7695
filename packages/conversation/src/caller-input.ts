import type { UserTurn } from './protocol.ts'

const MAX_DIGITS = 100
/** Maximum characters of one turn of the caller. */
const MAX_CHARACTERS = 16_384

/** The digits, `*` and `#` in what was entered, at most 100. */
export function digitsIn(entered: string): string {
  return entered.replace(/[^0-9*#]/g, '').slice(0, MAX_DIGITS)
}

/** The words without surrounding space, at most 16 384 characters. */
export function wordsIn(text: string): string {
  return text.trim().slice(0, MAX_CHARACTERS)
}

export function wordsOf({ text }: UserTurn): string {
  return wordsIn(text).toWellFormed()
}
