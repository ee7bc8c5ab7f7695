import { PhoneError } from './errors.ts'

/** Indices of the matched words: `from` inclusive, `to` exclusive. */
interface WordRange {
  readonly from: number
  readonly to: number
}

/**
 * The first match of `pattern`: a string matches consecutive whole words, ignoring case and punctuation; a regular
 * expression matches in the words joined by spaces. Throws "bad_pattern" for a string without a word.
 */
export function findPattern(pattern: string | RegExp, words: readonly string[]): WordRange | null {
  return typeof pattern === 'string' ? findWords(pattern, words) : findText(pattern, words)
}

/** `pattern` for error texts: "words" or /expression/i. */
export function describePattern(pattern: string | RegExp): string {
  return typeof pattern === 'string' ? `"${pattern}"` : String(pattern)
}

function findWords(pattern: string, words: readonly string[]): WordRange | null {
  const wanted = plainWords(pattern)
  if (wanted.length === 0)
    throw new PhoneError('bad_pattern', `the pattern "${pattern}" has no letters or digits: give at least one word`)
  const heard = words.flatMap((word, index) => plainWords(word).map(plain => ({ plain, index })))
  const start = heard.findIndex((_, at) => wanted.every((plain, i) => heard[at + i]?.plain === plain))
  return start < 0 ? null : { from: heard[start]!.index, to: heard[start + wanted.length - 1]!.index + 1 }
}

function plainWords(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
}

function findText(pattern: RegExp, words: readonly string[]): WordRange | null {
  // Expressions with the flags g and y start at the end of their last match.
  const match = new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, '')).exec(words.join(' '))
  if (match === null || match[0].trim() === '') return null
  const begin = match.index
  const end = begin + match[0].trimEnd().length
  let from = words.length
  let to = 0
  for (let i = 0, at = 0; i < words.length; at += words[i++]!.length + 1) {
    const inside = at < end && at + words[i]!.length > begin
    if (!inside) continue
    from = Math.min(from, i)
    to = i + 1
  }
  return { from, to }
}
