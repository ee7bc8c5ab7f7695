import type { ScriptedCaller } from '@parley/contract'
import type { Ms } from '@parley/kernel'
import { BEEP, type CallerStep } from './caller-step.ts'

type ScriptStep = ScriptedCaller['steps'][number]

/** How long a caller waits for an answer or for expected words before it goes on regardless. */
const PATIENCE_MS: Ms = 10_000
/** How long the far end may take to hang up after the last step. */
const HANG_UP_MS: Ms = 30_000
/** The pause after the last answer, before the caller hangs up. */
const LAST_PAUSE_MS: Ms = 1000

/** A step of a player's script, and the step of the caller's script that it belongs to, counted from 0. */
interface OriginatedStep {
  readonly origin: number
  readonly step: CallerStep
}

/**
 * The instructions for the player. A caller waits for an answer before each step, unless the step says otherwise, and never fails for
 * lack of one. After its last step it hears the answer out and hangs up.
 */
export function scriptSteps(script: ScriptedCaller): readonly CallerStep[] {
  return originatedSteps(script).map(({ step }) => step)
}

export function originatedSteps({ steps }: ScriptedCaller): readonly OriginatedStep[] {
  return steps.flatMap((step, origin) => {
    const own = [...waits(step), ...acts(step), ...expected(step, origin === steps.length - 1)]
    return own.map(instruction => ({ origin, step: instruction }))
  })
}

function waits(step: ScriptStep): CallerStep[] {
  if (step.silence_ms !== undefined) return [{ type: 'silence', ms: step.silence_ms }]
  if (step.interrupt_at_ms !== undefined)
    return [{ type: 'reply-begun', forMs: step.interrupt_at_ms, withinMs: PATIENCE_MS, optional: true }]
  return [{ type: 'reply', pauseMs: step.pause_before_ms, withinMs: PATIENCE_MS, optional: true }]
}

function acts({ says, plays, presses, level_db, hangs_up }: ScriptStep): CallerStep[] {
  const text = says ?? plays?.text
  const digits = presses === undefined ? {} : { digits: presses }
  const acts: CallerStep[] = []
  const tone = plays?.beep === true ? { tone: BEEP } : {}
  if (text !== undefined) acts.push({ type: 'say', text, levelDb: level_db, ...tone, ...digits })
  else if (presses !== undefined) acts.push({ type: 'press', digits: presses })
  if (hangs_up) acts.push({ type: 'hang-up' })
  return acts
}

function expected({ expect, hangs_up }: ScriptStep, isLast: boolean): CallerStep[] {
  const hears = (expect?.hears ?? []).map(
    (pattern): CallerStep => ({ type: 'hear', pattern, withinMs: PATIENCE_MS, optional: true }),
  )
  if (!isLast || hangs_up) return hears
  if (expect?.hung_up === true)
    return [...hears, { type: 'hung-up', withinMs: HANG_UP_MS, optional: true }, { type: 'hang-up' }]
  return [
    ...hears,
    { type: 'reply', pauseMs: LAST_PAUSE_MS, withinMs: PATIENCE_MS, optional: true },
    { type: 'hang-up' },
  ]
}
