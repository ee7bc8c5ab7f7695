import type { Conversation } from './conversation.ts'
import type { Language } from './language.ts'
import { numbersIn } from './numbers.ts'
import { vocabulary } from './vocabulary.ts'
import { type Word, wordsOf } from './words.ts'

const PRESSING = new Set('press dial enter pulse pulsa marque marca presione presiona oprima'.split(' '))

/**
 * The digits to press: those in the instruction itself, else those of the menu entry in the newest turn ("for sales
 * press 1") that fits the instruction best. Null when there are neither.
 */
export function digitsToPress(prompt: string, conversation: Conversation, language: Language): string | null {
  const literal = prompt.match(/(?<![0-9A-Za-z])[0-9*#][0-9*#w]{0,63}(?![0-9A-Za-z])/)?.[0]
  if (literal !== undefined) return literal
  const menu = conversation.exchanges[0]?.caller ?? ''
  const wanted = contentOf(wordsOf(prompt, language), language)
  let best: { digit: string; score: number } | null = null
  for (const { digit, about } of entriesOf(wordsOf(menu, language), language)) {
    const score = about.filter(stem => wanted.includes(stem)).length
    if (score > (best?.score ?? 0)) best = { digit, score }
  }
  return best?.digit ?? null
}

/** Each digit with its description, in "for sales press 1" and in "press 1 for sales". */
function entriesOf(words: readonly Word[], language: Language): { digit: string; about: string[] }[] {
  const numbers = numbersIn(words, language).filter(number => number.digits.length === 1)
  const first = numbers[0]
  if (first === undefined) return []
  const before = contentOf(words.slice(0, first.from), language)
  return numbers.map((number, i) => {
    const from = i === 0 ? 0 : numbers[i - 1]!.to
    const to = numbers[i + 1]?.from ?? words.length
    const about = before.length > 0 ? words.slice(from, number.from) : words.slice(number.to, to)
    return { digit: number.digits, about: contentOf(about, language) }
  })
}

function contentOf(words: readonly Word[], language: Language): string[] {
  const { grammar } = vocabulary(language)
  return words.filter(word => !grammar.has(word.folded) && !PRESSING.has(word.folded)).map(word => word.stem)
}
