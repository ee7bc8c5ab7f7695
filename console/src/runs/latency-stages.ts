import type { StageLatency, Turn } from './call-timeline.ts'

/** The stages of an answer, in the order in which they happen. */
export const STAGES = ['endpointing', 'stt', 'llm', 'tts', 'engine'] as const
type Stage = (typeof STAGES)[number]

interface StageBar {
  readonly turn: Turn
  readonly totalMs: number
  readonly parts: readonly { readonly stage: Stage; readonly ms: number; readonly share: number }[]
}

/** A bar for each measured answer; `share` is relative to the slowest answer of the run. */
export function stageBars(turns: readonly Turn[]): readonly StageBar[] {
  const measured = turns.flatMap(turn => (turn.latency === null ? [] : [{ turn, latency: turn.latency }]))
  const totals = measured.map(({ latency }) => totalOf(latency))
  const slowest = Math.max(1, ...totals)
  return measured.map(({ turn, latency }, index) => ({
    turn,
    totalMs: totals[index]!,
    parts: STAGES.flatMap(stage => {
      const ms = latency[stage]
      return ms === null || ms <= 0 ? [] : [{ stage, ms, share: ms / slowest }]
    }),
  }))
}

/** End to end where it was measured; otherwise the sum of the stages. */
function totalOf(latency: StageLatency): number {
  const sum = STAGES.reduce((all, stage) => all + (latency[stage] ?? 0), 0)
  return Math.max(sum, latency.e2e ?? 0)
}
