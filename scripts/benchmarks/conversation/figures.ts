import type { CallerCase } from '../callers/cases.ts'
import { judge, wordsOf } from '../callers/judge.ts'
import type { FinishedCall } from '../callers/virtual-agent-call.ts'
import { quantile } from '../quantile.ts'
import type { Condition } from './conditions.ts'

/** What became of the callers on one line. */
export interface ConditionFigures {
  readonly dimension: Condition['dimension']
  readonly codec: Condition['codec']
  readonly level: number
  readonly calls: number
  readonly words: number
  /** Words that were missed, wrong or added, of the words spoken. */
  readonly word_error_rate: number
  /** Times that the agent spoke in a pause inside a turn. */
  readonly cut_offs: number
  readonly replies: number
  /** From the end of the caller's voice to the agent's; null: the agent never answered. */
  readonly latency_p50_ms: number | null
  readonly latency_p95_ms: number | null
}

export function figuresOf(
  { dimension, codec, level }: Condition,
  calls: readonly (readonly [CallerCase, FinishedCall])[],
): ConditionFigures {
  const verdicts = calls.map(([example, call]) => judge(example, call))
  const replies = verdicts.flatMap(({ repliesMs }) => repliesMs)
  const words = calls.map(([example, call]) => {
    const spoken = spokenWords(example, call)
    return { spoken: spoken.length, errors: wordErrors(spoken, heardWords(call)) }
  })
  const total = words.reduce((sum, { spoken }) => sum + spoken, 0)
  const errors = words.reduce((sum, one) => sum + one.errors, 0)
  const latency = (share: number) => (replies.length === 0 ? null : Math.round(quantile(replies, share)))
  return {
    dimension,
    codec,
    level,
    calls: calls.length,
    words: total,
    word_error_rate: Number((errors / Math.max(1, total)).toFixed(4)),
    cut_offs: verdicts.reduce((sum, { cutOff }) => sum + cutOff, 0),
    replies: replies.length,
    latency_p50_ms: latency(0.5),
    latency_p95_ms: latency(0.95),
  }
}

/** The words of the steps that were played. */
function spokenWords({ caller }: CallerCase, { turns }: FinishedCall): string[] {
  const played = new Set(turns.map(({ step }) => step))
  return caller.steps.flatMap(({ says = '' }, step) => (played.has(step) ? wordsOf(says) : []))
}

function heardWords({ report }: FinishedCall): string[] {
  return report.utterances.flatMap(({ role, text }) => (role === 'user' ? wordsOf(text) : []))
}

/** Fewest words to replace, leave out or add so that what was heard becomes what was spoken. */
export function wordErrors(spoken: readonly string[], heard: readonly string[]): number {
  let row = Array.from({ length: heard.length + 1 }, (_, index) => index)
  for (const [index, word] of spoken.entries()) {
    const next = [index + 1]
    for (const [at, other] of heard.entries())
      next.push(Math.min(row[at + 1]! + 1, next[at]! + 1, row[at]! + (word === other ? 0 : 1)))
    row = next
  }
  return row.at(-1)!
}
