import { quotesIn } from '../quotes.ts'

/** One instruction. Characters of Unicode's private use area stand for its quotations, U+E000 for the first. */
export interface Clause {
  readonly text: string
  readonly quotes: readonly string[]
}

const FIRST_MARK = 0xe000
const MAX_QUOTES = 256
const MARK = /[\ue000-\ue0ff]/
const MARKS = /[\ue000-\ue0ff]/g

export function withoutQuotes(text: string): { marked: string; quotes: string[] } {
  const clean = text.replace(MARKS, '')
  const { quotes, rest } = quotesIn(clean, quote => String.fromCharCode(FIRST_MARK + quote))
  return quotes.length > MAX_QUOTES ? { marked: clean, quotes: [] } : { marked: rest, quotes }
}

/** The quotations of `text`, joined by blanks; null when it has none. */
export function quotedIn({ text, quotes }: Clause): string | null {
  const found = [...text].filter(character => MARK.test(character)).map(mark => quoteOf(mark, quotes))
  return found.length === 0 ? null : found.join(' ')
}

/** The index of the first quotation; -1 when there is none. */
export function firstQuote(text: string): number {
  return text.search(MARK)
}

/** The text with its quotations restored; with `marks`, in quotation marks. */
export function restored(text: string, quotes: readonly string[], marks: boolean): string {
  return text.replace(MARKS, mark => (marks ? `"${quoteOf(mark, quotes)}"` : quoteOf(mark, quotes)))
}

function quoteOf(mark: string, quotes: readonly string[]): string {
  return quotes[mark.charCodeAt(0) - FIRST_MARK] ?? ''
}

/** The words as a sentence, with an initial capital and one final mark; null when they contain no letter or digit. */
export function sentence(words: string, end: '.' | '?' | '!'): string | null {
  const bare = words.trim().replace(/[\s.,;:]+$/, '')
  if (!/[\p{L}\p{N}]/u.test(bare)) return null
  const capital = bare.replace(/^(¿?)(\p{Ll})/u, (_all, mark: string, letter: string) => mark + letter.toUpperCase())
  return /[?!…]$/.test(capital) ? capital : capital + end
}

/** The text after a match of `words` at its start; null without a match there. */
export function after(text: string, words: RegExp): string | null {
  const match = words.exec(text)
  return match === null || match.index !== 0 ? null : text.slice(match[0].length).replace(/^[\s,]+/, '')
}
