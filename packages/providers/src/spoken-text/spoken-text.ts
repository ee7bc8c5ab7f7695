import { primaryTag } from '../text-to-speech/request.ts'
import { ENGLISH_RULES } from './english.ts'
import { ipaOf, type Pronunciation, respelled } from './phonemes.ts'
import { SPANISH_RULES } from './spanish.ts'
import type { SpokenRule } from './spoken-rule.ts'

/** Written words, and what a voice is given for them. */
interface SpokenPiece {
  /** One or more words without white space at the ends. */
  readonly written: string
  readonly spoken: string
}

interface SpokenTextOptions {
  /** BCP 47. */
  readonly language: string
  /** Numbers, money, dates, times, telephone numbers, addresses and abbreviations are written out. English and Spanish. */
  readonly normalizes: boolean
  readonly pronunciations: readonly Pronunciation[]
  /** How the voice writes a pronunciation in IPA; absent: words are respelled. */
  readonly marks?: (ipa: string) => string
}

interface Segment {
  readonly text: string
  /** Null: not replaced. */
  readonly spoken: string | null
}

/** The text that a voice is given for what an agent says: without I/O. */
export class SpokenText {
  readonly #rules: readonly SpokenRule[]

  constructor({ language, normalizes, pronunciations, marks }: SpokenTextOptions) {
    const tag = primaryTag(language)
    const byLanguage: Readonly<Record<string, readonly SpokenRule[]>> = { en: ENGLISH_RULES, es: SPANISH_RULES }
    this.#rules = [
      ...pronunciationRules(pronunciations, ipa => marks?.(ipa) ?? respelled(ipa, tag)),
      ...(normalizes ? (byLanguage[tag] ?? []) : []),
    ]
  }

  /** Whether the text of every sentence is spoken as it is written. */
  get isIdentity(): boolean {
    return this.#rules.length === 0
  }

  /** The words of the text in order, those that are spoken as one thing in one piece. */
  pieces(text: string): readonly SpokenPiece[] {
    let segments: readonly Segment[] = [{ text, spoken: null }]
    for (const rule of this.#rules)
      segments = segments.flatMap(segment => (segment.spoken === null ? apply(rule, segment.text) : [segment]))
    return grouped(segments)
  }
}

/** One rule for all words, the longest first, so that the text is searched once. */
function pronunciationRules(pronunciations: readonly Pronunciation[], write: (ipa: string) => string): SpokenRule[] {
  const usable = pronunciations.filter(one => one.word.trim() !== '' && ipaOf(one) !== '')
  if (usable.length === 0) return []
  const written = new Map(usable.map(one => [one.word.toLowerCase(), write(ipaOf(one))]))
  const words = [...written.keys()].sort((a, b) => b.length - a.length)
  const pattern = new RegExp(
    `(?<![\\p{L}\\p{N}])(?:${words.map(word => word.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|')})(?![\\p{L}\\p{N}])`,
    'giu',
  )
  return [{ pattern, spoken: ([word]) => written.get(word.toLowerCase()) ?? null }]
}

function apply({ pattern, spoken }: SpokenRule, text: string): Segment[] {
  const segments: Segment[] = []
  let from = 0
  for (const match of text.matchAll(pattern)) {
    const words = spoken(match)
    if (words === null) continue
    if (match.index > from) segments.push({ text: text.slice(from, match.index), spoken: null })
    segments.push({ text: match[0], spoken: words })
    from = match.index + match[0].length
  }
  if (from < text.length) segments.push({ text: text.slice(from), spoken: null })
  return segments
}

/** Pieces end at white space outside of replaced expressions. */
function grouped(segments: readonly Segment[]): SpokenPiece[] {
  const pieces: SpokenPiece[] = []
  let [written, spoken] = ['', '']
  const end = () => {
    if (written !== '') pieces.push({ written, spoken: spoken.trim() })
    ;[written, spoken] = ['', '']
  }
  for (const segment of segments) {
    if (segment.spoken !== null) {
      written += segment.text
      // Words that touch the expression, such as a bracket or "EUR", stay apart from what is said.
      spoken += /[\p{L}\p{N}]$/u.test(spoken) ? ` ${segment.spoken}` : segment.spoken
      continue
    }
    for (const [at, part] of segment.text.split(/\s+/).entries()) {
      if (at > 0) end()
      const touches = part !== '' && segment.text.startsWith(part) && /^[\p{L}\p{N}]/u.test(part) && spoken !== ''
      written += part
      spoken += touches ? ` ${part}` : part
    }
  }
  end()
  return pieces
}
