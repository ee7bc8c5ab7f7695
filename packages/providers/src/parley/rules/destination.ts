import type { Conversation } from './conversation.ts'
import type { Language } from './language.ts'
import { vocabulary } from './vocabulary.ts'
import { wordsOf } from './words.ts'

/** A telephone number or a SIP address as a prompt writes it. */
const DESTINATION = /\+?[0-9][0-9 ()-]{4,24}[0-9]|sips?:[^\s,;<>"']{1,200}|tel:[^\s,;<>"']{1,64}/g
const MAX_TURNS = 4

/**
 * The destination of a transfer: the only one that the prompt lists, else the one whose description ("sales: +1555…")
 * shares most words with the caller's newest turns. Null when the prompt lists none or none fits.
 */
export function destinationIn(prompt: string, conversation: Conversation, language: Language): string | null {
  const text = prompt.slice(0, 8192)
  const found = [...text.matchAll(DESTINATION)].slice(0, 100)
  if (found.length === 0) return null
  if (found.length === 1) return clean(found[0]![0])
  let best: { destination: string; score: number } | null = null
  let from = 0
  const turnStems = conversation.exchanges.slice(0, MAX_TURNS).map(({ caller }) => stemsIn(caller, language))
  for (const match of found) {
    const about = stemsIn(text.slice(from, match.index), language)
    from = match.index + match[0].length
    const score = Math.max(0, ...turnStems.map((stemsOfTurn, turn) => shared(about, stemsOfTurn) / (turn + 1)))
    if (score > (best?.score ?? 0)) best = { destination: clean(match[0]), score }
  }
  return best?.destination ?? null
}

function clean(destination: string): string {
  return /^(?:sips?|tel):/.test(destination) ? destination.replace(/[.!?]+$/, '') : destination.replace(/[^0-9+]/g, '')
}

function shared(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  return [...a].filter(stem => b.has(stem)).length
}

function stemsIn(text: string, language: Language): Set<string> {
  const { grammar, framing: telling } = vocabulary(language)
  const words = wordsOf(text, language).filter(word => !grammar.has(word.folded) && !telling.has(word.folded))
  return new Set(words.map(word => word.stem))
}
