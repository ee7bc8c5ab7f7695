import type { ScriptedCaller } from '@parley/contract'
import type { Ms } from '@parley/kernel'
import type { LegEnd } from '@parley/leg'
import type { AudioGap, CallerTurn, MissedExpectation } from '@parley/phone'
import type { Failure } from './call-row.ts'
import type { Scenario } from './scenario.ts'

/** What one phone knows of its call when it is over. */
export interface CallEvidence {
  readonly script: ScriptedCaller
  readonly end: LegEnd
  /** From the INVITE to the answer; null: not answered, or inbound. */
  readonly setupMs: Ms | null
  readonly durationMs: Ms
  /** Whether the far end was heard speaking. */
  readonly heardVoice: boolean
  readonly turns: readonly CallerTurn[]
  readonly missed: readonly MissedExpectation[]
  readonly gaps: readonly AudioGap[]
  readonly concealedMs: Ms
  /** Why the script was not played to its end; null: it was. */
  readonly scriptFailure: string | null
  /** Whether the fleet hung up because the call was too long, or because the run ended. */
  readonly cutOff: 'too-long' | 'run-over' | null
}

type Checks = Scenario['checks']

/** Every way in which a call failed; empty: it was good. */
export function judgeCall(evidence: CallEvidence, checks: Checks): Failure[] {
  const { end } = evidence
  if (!end.answered) return evidence.cutOff === 'run-over' ? [] : [notAnswered(evidence)]
  const failures = [...signalling(evidence, checks), ...audio(evidence, checks), ...conversation(evidence, checks)]
  // A call that the end of the run cut off was not played to its end, which is no fault of the target.
  const isOfCut = ({ kind }: Failure) => kind === 'dropped' || kind === 'no_reply' || kind === 'no_audio'
  return evidence.cutOff === 'run-over' ? failures.filter(failure => !isOfCut(failure)) : failures
}

function notAnswered({ end }: CallEvidence): Failure {
  const status = end.sipStatus ?? 0
  const isSilent = end.cause === 'timeout' || status === 408 || (end.cause === 'cancelled' && end.by === 'local')
  if (isSilent) return { kind: 'not_answered', detail: end.detail || end.cause }
  if (end.cause === 'rejected') return { kind: `refused_${status}`, detail: end.reason }
  return { kind: end.cause.replaceAll('-', '_'), detail: end.detail }
}

function signalling({ end, setupMs, cutOff }: CallEvidence, { setup_ms, call_s }: Checks): Failure[] {
  const failures: Failure[] = []
  if (setup_ms !== undefined && setupMs !== null && setupMs > setup_ms)
    failures.push({ kind: 'slow_setup', detail: `answered after ${round(setupMs)} ms` })
  if (end.cause !== 'bye') failures.push({ kind: end.cause.replaceAll('-', '_'), detail: end.detail })
  else if (!end.confirmed)
    failures.push({ kind: 'hang_up_unconfirmed', detail: `BYE got ${end.byeStatus ?? 'no answer'}` })
  if (cutOff === 'too-long') failures.push({ kind: 'never_hung_up', detail: `still up after ${call_s} s` })
  return failures
}

function audio({ heardVoice, gaps, concealedMs, durationMs }: CallEvidence, checks: Checks): Failure[] {
  const failures: Failure[] = []
  if (checks.audio && !heardVoice) failures.push({ kind: 'no_audio', detail: 'no voice of the far end was heard' })
  const [first] = gaps
  if (first !== undefined) {
    const longest = Math.max(...gaps.map(gap => gap.durationMs))
    failures.push({
      kind: 'gap',
      detail: `${gaps.length}, the longest ${round(longest)} ms, the first at ${round(first.startMs)} ms`,
    })
  }
  const concealed = (100 * concealedMs) / Math.max(1, durationMs)
  if (checks.concealed_percent !== undefined && concealed > checks.concealed_percent)
    failures.push({ kind: 'concealed', detail: `${round(concealedMs)} ms of ${round(durationMs)} ms` })
  return failures
}

function conversation(evidence: CallEvidence, checks: Checks): Failure[] {
  const { script, turns, missed, scriptFailure, heardVoice } = evidence
  const failures: Failure[] = []
  for (const { step, expected } of missed) {
    if (expected === null) failures.push({ kind: 'never_hung_up', detail: `after step ${step + 1}` })
    // Without any voice the words are missing for one reason, which is reported once.
    else if (heardVoice) failures.push({ kind: 'wrong_words', detail: `step ${step + 1} expected "${expected}"` })
  }
  for (const { step, replyMs } of turns) {
    if (replyMs === null) {
      if (checks.replies && heardVoice && expectsReply(script, step))
        failures.push({ kind: 'no_reply', detail: `to step ${step + 1}` })
    } else if (checks.reply_ms !== undefined && replyMs > checks.reply_ms)
      failures.push({ kind: 'late_reply', detail: `to step ${step + 1} after ${round(replyMs)} ms` })
  }
  if (scriptFailure !== null) failures.push({ kind: 'dropped', detail: scriptFailure })
  return failures
}

/** Whether the caller gives the far end a chance to answer the step. */
function expectsReply({ steps }: ScriptedCaller, step: number): boolean {
  const own = steps[step]
  return own?.hangs_up !== true && own?.expect?.hung_up !== true && steps[step + 1]?.silence_ms === undefined
}

function round(ms: Ms): number {
  return Math.round(ms)
}
