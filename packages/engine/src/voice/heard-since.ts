import type { DialogueInput } from '@parley/dialogue'
import type { Ms } from '@parley/kernel'

/** The input without words from before the answer, which are the network's; null: nothing is left of it. */
export function heardSince(answeredAt: Ms, input: DialogueInput): DialogueInput | null {
  if (input.type !== 'partial' && input.type !== 'final') return input
  const words = input.words.filter(word => word.endMs > answeredAt)
  if (words.length === input.words.length) return input
  if (words.length === 0 && input.type === 'partial') return null
  return { ...input, words, text: words.map(word => word.text).join(' ') }
}
