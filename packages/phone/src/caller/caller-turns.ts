import type { ScriptedCaller } from '@parley/contract'
import type { Ms } from '@parley/kernel'
import type { VoiceSegment } from '../far-end-voice.ts'
import type { HeardLine } from '../heard-transcript.ts'
import type { ScriptPlayer } from './script-player.ts'
import { originatedSteps } from './script-steps.ts'

/** The far end's voice may begin this long before the detected end of the caller's sound. */
const EARLY_MS: Ms = 100

/** What the caller said or pressed in one step, and what it heard then. Times are on the call's sample clock. */
export interface CallerTurn {
  /** Step of the caller's script, from 0. */
  readonly step: number
  readonly startMs: Ms
  readonly endMs: Ms
  /** From the end of the caller's words or keys to the far end's voice; null: it did not answer before the caller's next act. */
  readonly replyMs: Ms | null
  /** Words of the far end from the beginning of this act to that of the next; empty without a recogniser. */
  readonly heard: string
}

interface ScriptEvidence {
  readonly script: ScriptedCaller
  readonly player: Pick<ScriptPlayer, 'acts' | 'missed'>
  readonly segments: readonly VoiceSegment[]
  readonly lines: readonly HeardLine[]
}

export function callerTurns({ script, player, segments, lines }: ScriptEvidence): CallerTurn[] {
  const steps = originatedSteps(script)
  return player.acts.map(({ index, startMs, endMs }, i) => {
    // Words and keys of one step are one act: an answer to its key may begin while the words go on.
    const next = player.acts.slice(i + 1).find(act => steps[act.index]!.origin !== steps[index]!.origin)
    const nextMs = next?.startMs ?? Number.POSITIVE_INFINITY
    const reply = segments.find(segment => segment.startMs >= endMs - EARLY_MS && segment.startMs < nextMs)
    const heard = lines.filter(line => line.startMs >= startMs && line.startMs < nextMs)
    return {
      step: steps[index]!.origin,
      startMs,
      endMs,
      replyMs: reply === undefined ? null : Math.max(0, reply.startMs - endMs),
      heard: heard.map(line => line.text).join(' '),
    }
  })
}

/** What a step expected in vain: words, or that the far end hangs up. */
export interface MissedExpectation {
  readonly step: number
  readonly expected: string | null
}

/** `expected` is null where the far end should have hung up. */
export function missedExpectations({ script, player }: Pick<ScriptEvidence, 'script' | 'player'>): MissedExpectation[] {
  const steps = originatedSteps(script)
  return player.missed.flatMap((index): MissedExpectation[] => {
    const { origin, step } = steps[index]!
    if (step.type === 'hung-up') return [{ step: origin, expected: null }]
    return step.type === 'hear' ? [{ step: origin, expected: String(step.pattern) }] : []
  })
}
