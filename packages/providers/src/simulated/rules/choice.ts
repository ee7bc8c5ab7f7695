import type { TransitionTool } from '../../language-model/language-model.ts'
import { conditionOf } from './condition.ts'
import type { Language } from './language.ts'
import { type Answer, fit, HOLDS } from './matching.ts'
import { vocabulary } from './vocabulary.ts'

const MOST_TRANSITIONS = 256

/** The transition whose condition fits best, the first of equals; null where none holds. */
export function choose(
  transitions: readonly TransitionTool[],
  answer: Answer,
  language: Language,
): { readonly tool: string; readonly score: number } | null {
  let best: { tool: string; score: number } | null = null
  for (const { tool, condition } of transitions.slice(0, MOST_TRANSITIONS)) {
    const score = fit(conditionOf(condition, language), answer, vocabulary(language))
    if (score >= HOLDS && score > (best?.score ?? 0)) best = { tool, score }
  }
  return best
}
