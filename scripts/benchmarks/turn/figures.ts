import type { Ms } from '@parley/kernel'
import { quantile } from '../quantile.ts'
import type { ThreadTimes } from '../thread-times.ts'
import type { EngineMeasures } from './messages.ts'
import { scriptedDelay } from './script.ts'
import type { MeasuredTurn } from './turn-meter.ts'

export interface TurnFigures {
  readonly turns: number
  readonly overhead_p50_ms: number
  readonly overhead_p95_ms: number
  /** Overhead from the caller's last audible sample instead of its frame. */
  readonly overhead_from_sound_p50_ms: number
  readonly e2e_p50_ms: number
  readonly e2e_p95_ms: number
}

/**
 * Times of the turns of some calls: end to end, and the overhead without the scripted waits (`waitsMs`, and `modelMs` or more for
 * the model). The first `unmeasured` turns of each call are left out.
 */
export function turnFigures(
  calls: readonly (readonly MeasuredTurn[])[],
  options: { readonly waitsMs: Ms; readonly modelMs: Ms; readonly unmeasured: number },
): TurnFigures {
  const { waitsMs, modelMs, unmeasured } = options
  const turns = calls.flatMap(call =>
    call
      .map(({ lastSentAt, lastSoundAt, firstHeardAt }, i) => {
        const waits = waitsMs + scriptedDelay(i + 1, modelMs)
        const e2e = firstHeardAt - lastSentAt
        return { e2e, overhead: e2e - waits, fromSound: firstHeardAt - lastSoundAt - waits }
      })
      .slice(unmeasured),
  )
  const percent = (of: 'e2e' | 'overhead' | 'fromSound', share: number) =>
    percentile(
      turns.map(turn => turn[of]),
      share,
    )
  return {
    turns: turns.length,
    overhead_p50_ms: percent('overhead', 0.5),
    overhead_p95_ms: percent('overhead', 0.95),
    overhead_from_sound_p50_ms: percent('fromSound', 0.5),
    e2e_p50_ms: percent('e2e', 0.5),
    e2e_p95_ms: percent('e2e', 0.95),
  }
}

/** Busy share of the event loop of the engine's main thread between two measurements. */
export function eventLoopShare(before: EngineMeasures, after: EngineMeasures): number {
  const active = after.activeMs - before.activeMs
  const idle = after.idleMs - before.idleMs
  return rounded(active / (active + idle), 3)
}

/** CPU for one second of one call, ms. */
export interface CpuPerCallSecond {
  readonly main: Ms
  readonly media: Ms
  readonly other: Ms
  readonly all: Ms
}

/** CPU of a process between two readings, for each of `callSeconds`; null where the system does not tell. */
export function cpuPerCallSecond(
  before: ThreadTimes | null,
  after: ThreadTimes | null,
  callSeconds: number,
): CpuPerCallSecond | null {
  if (before === null || after === null) return null
  const of = (threads: readonly (keyof ThreadTimes)[]) =>
    rounded(threads.reduce((sum, thread) => sum + after[thread] - before[thread], 0) / callSeconds, 3)
  return { main: of(['main']), media: of(['media']), other: of(['other']), all: of(['main', 'media', 'other']) }
}

/** The `share` quantile, rounded to a tenth. */
export function percentile(values: readonly number[], share: number): number {
  return rounded(quantile(values, share), 1)
}

export function rounded(value: number, digits: number): number {
  return Math.round(value * 10 ** digits) / 10 ** digits
}
