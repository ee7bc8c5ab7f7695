import type { Language } from '../language.ts'
import { type Word, wordsOf } from '../words.ts'

const MARKS: ReadonlyMap<string, string> = new Map(
  Object.entries({ dot: '.', punto: '.', dash: '-', hyphen: '-', guion: '-', underscore: '_' }),
)
const MAX_PARTS = 12

/** The first e-mail address, written or spoken ("ana dot perez at example dot com"); null when there is none. */
export function emailIn(text: string, language: Language): string | null {
  for (const token of text.split(/[\s,;<>()]+/)) {
    const bare = token.replace(/[.!?:]+$/, '')
    if (bare.length <= 254 && /^[^@\s]+@[^@\s.]+(?:\.[^@\s.]+)+$/.test(bare)) return bare
  }
  const words = wordsOf(text, language)
  for (let at = 1; at < words.length - 2; at++) {
    if (words[at]!.folded !== 'at' && words[at]!.folded !== 'arroba') continue
    const domain = domainFrom(words, at + 1)
    if (domain !== null) return `${localPart(words, at - 1)}@${domain}`
  }
  return null
}

function domainFrom(words: readonly Word[], from: number): string | null {
  let domain = words[from]!.folded
  let dots = 0
  for (let at = from + 1; at + 1 < words.length && dots + 1 < MAX_PARTS; at += 2) {
    const mark = MARKS.get(words[at]!.folded)
    if (mark === undefined) break
    domain += mark + words[at + 1]!.folded
    if (mark === '.') dots++
  }
  return dots > 0 ? domain : null
}

function localPart(words: readonly Word[], last: number): string {
  let local = words[last]!.folded
  for (let at = last - 1, parts = 0; at > 0 && parts < MAX_PARTS; at -= 2, parts++) {
    // "guion bajo" is an underscore.
    const low = words[at]!.folded === 'bajo' && words[at - 1]!.folded === 'guion' ? 1 : 0
    const mark = low > 0 ? '_' : MARKS.get(words[at]!.folded)
    if (mark === undefined || at - low < 1) break
    at -= low
    local = words[at - 1]!.folded + mark + local
  }
  return local
}
