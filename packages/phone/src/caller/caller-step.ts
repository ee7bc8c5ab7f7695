import type { Ms } from '@parley/kernel'
import { describePattern } from '../heard-pattern.ts'

/** What a caller does with its voice and its keys. */
export type CallerAct =
  | {
      readonly type: 'say'
      readonly text: string
      /** Active level, dBov; default: as the voice synthesised it. */
      readonly levelDb?: number
      /** Follows the words after a short pause; without words it is the whole sound. Default none. */
      readonly tone?: { readonly hz: number; readonly ms: Ms }
      /** Keys that are pressed when the words begin. */
      readonly digits?: string
    }
  | { readonly type: 'press'; readonly digits: string }

/**
 * An instruction of a scripted caller. `withinMs`: timeout, default 30 s. After it the script fails; an `optional` step is then recorded
 * as missed, and the script goes on.
 */
export type CallerStep =
  /** Waits until the far end's speech matches, after the last match and the caller's own last words or keys. */
  | { readonly type: 'hear'; readonly pattern: string | RegExp; readonly withinMs?: Ms; readonly optional?: boolean }
  /** Waits until the far end has pressed these keys. */
  | { readonly type: 'keys'; readonly digits: string; readonly withinMs?: Ms }
  /** Waits until the far end speaks (from now on) and then pauses; `forMs` default 700. */
  | { readonly type: 'pause'; readonly forMs?: Ms; readonly withinMs?: Ms }
  /** Waits until the far end has been silent for `forMs`; earlier silence counts. Default 700. */
  | { readonly type: 'quiet'; readonly forMs?: Ms; readonly withinMs?: Ms }
  /** Waits until the far end has answered the caller's last words or keys and then paused for `pauseMs`. */
  | { readonly type: 'reply'; readonly pauseMs: Ms; readonly withinMs?: Ms; readonly optional?: boolean }
  /** Waits until the far end's answer to the caller's last words or keys has lasted for `forMs`. */
  | { readonly type: 'reply-begun'; readonly forMs: Ms; readonly withinMs?: Ms; readonly optional?: boolean }
  /** Waits until `ms` after the caller's own last sound; before the first sound: after the beginning of the script. */
  | { readonly type: 'silence'; readonly ms: Ms }
  | CallerAct
  /** Waits until the far end has been talking for `afterMs`, then says or presses. */
  | { readonly type: 'interrupt'; readonly afterMs: Ms; readonly by: CallerAct; readonly withinMs?: Ms }
  | { readonly type: 'wait'; readonly ms: Ms }
  /** From here on: when the far end says `pattern`, the script begins again after this step, at most `times` times. */
  | { readonly type: 'begin-again'; readonly pattern: string | RegExp; readonly times: number }
  | { readonly type: 'hang-up' }
  /** Waits for the far end to hang up. */
  | { readonly type: 'hung-up'; readonly withinMs?: Ms; readonly optional?: boolean }

export const PAUSE_MS: Ms = 700
/** What a mailbox plays when it begins to record. */
export const BEEP = { hz: 1000, ms: 500 } as const

export function describeStep(step: CallerStep): string {
  switch (step.type) {
    case 'hear':
      return `hear ${describePattern(step.pattern)}`
    case 'keys':
      return `wait for the keys ${step.digits}`
    case 'pause':
    case 'quiet':
      return `${step.type} of ${step.forMs ?? PAUSE_MS} ms`
    case 'reply':
      return `wait for an answer and a pause of ${step.pauseMs} ms`
    case 'reply-begun':
      return `wait until an answer has lasted ${step.forMs} ms`
    case 'silence':
      return `stay silent for ${step.ms} ms`
    case 'say':
      if (step.text === '' && step.tone !== undefined) return `play ${step.tone.hz} Hz for ${step.tone.ms} ms`
      return step.digits === undefined ? `say "${step.text}"` : `say "${step.text}" and press ${step.digits}`
    case 'press':
      return `press ${step.digits}`
    case 'interrupt':
      return `after ${step.afterMs} ms of speech ${describeStep(step.by)}`
    case 'wait':
      return `wait ${step.ms} ms`
    case 'begin-again':
      return `begin again after ${describePattern(step.pattern)}`
    case 'hang-up':
      return 'hang up'
    case 'hung-up':
      return 'wait for the far end to hang up'
  }
}
