import type { TransitionTool } from '../../language-model/language-model.ts'
import { conditionOf } from './condition.ts'
import type { Language } from './language.ts'
import { type Answer, fit, HOLDS } from './matching.ts'
import { vocabulary } from './vocabulary.ts'

const MOST_TRANSITIONS = 256

/** The transition whose condition fits best, the first of equals; null where none holds. `ofCaller`: the turn is theirs. */
export function choose(
  transitions: readonly TransitionTool[],
  answer: Answer,
  language: Language,
  ofCaller = true,
): { readonly tool: string; readonly score: number } | null {
  let best: { tool: string; score: number } | null = null
  for (const { tool, condition } of transitions.slice(0, MOST_TRANSITIONS)) {
    const wanted = conditionOf(condition, language)
    if (wanted.ofCaller && !ofCaller) continue
    const score = fit(wanted, answer, vocabulary(language))
    if (score >= HOLDS && score > (best?.score ?? 0)) best = { tool, score }
  }
  return best
}
