import type { TransitionTool } from '../../language-model/language-model.ts'
import { conditionOf } from './condition.ts'
import type { Language } from './language.ts'
import { type Answer, fit, HOLDS } from './matching.ts'
import { vocabulary } from './vocabulary.ts'

const MAX_TRANSITIONS = 256

/**
 * The transition whose condition fits the answer best, the first of equal ones; null when no condition holds.
 * `ofCaller`: the answer is a turn of the caller, not a tool result; without it, conditions about the caller are skipped.
 */
export function choose(
  transitions: readonly TransitionTool[],
  answer: Answer,
  language: Language,
  ofCaller = true,
): { readonly tool: string; readonly score: number } | null {
  let best: { tool: string; score: number } | null = null
  for (const { tool, condition } of transitions.slice(0, MAX_TRANSITIONS)) {
    const parsed = conditionOf(condition, language)
    if (parsed.ofCaller && !ofCaller) continue
    const score = fit(parsed, answer, vocabulary(language))
    if (score >= HOLDS && score > (best?.score ?? 0)) best = { tool, score }
  }
  return best
}
