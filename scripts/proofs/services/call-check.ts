import type { TimelineItem } from '@parley/conversation'
import type { CallReport } from '@parley/engine/testing'
import type { Ms } from '@parley/kernel'
import type { CallSound } from './call-sound.ts'
import type { ClinicCallResult } from './clinic-calls.ts'
import type { CallerTurn } from './patient-caller.ts'

/** Time after an interruption in which the agent must be silent: it has stopped and cannot have an answer yet. */
const SILENT_FROM_MS: Ms = 100
const SILENT_UNTIL_MS: Ms = 1000
/** A longer wait of the caller must have a cause in the timeline. */
const MAX_UNEXPLAINED_MS: Ms = 4000
/** The latency of a slow turn in the timeline. It is a little shorter than the wait, because it counts from the turn. */
const SLOW_TURN_MS: Ms = 3000
/** Actions that change something at the clinic. */
const CHANGING_ACTIONS = ['book_slot', 'request_callback', 'register_patient']

/** Faults of a call during which a service failed. Without faults every number is 0, `hang` is null and `unrecorded` is false. */
interface CallCheck {
  /** Why the call did not end by itself; null: it did. */
  readonly hang: string | null
  /** Actions and effects at the clinic beyond one for each kind of action that the call requested. */
  readonly doubles: number
  /** Turns of the caller on a completed call that the transcript lacks. */
  readonly lost: number
  /** How long the agent was still heard after interruptions. */
  readonly stale_ms: Ms
  /** The longest time from an interruption to the agent's silence; null: there was no interruption. */
  readonly cancel_ms: Ms | null
  /** Whether the caller noticed a failure that is not in the timeline. */
  readonly unrecorded: boolean
  /** Longest wait of the caller for sound of the agent; null: there is no recording. */
  readonly dead_air_ms: Ms | null
}

/** An ended call and its sound; null: there is no recording. */
export interface CheckedCall extends ClinicCallResult {
  readonly sound: CallSound | null
}

/** Compares a call with the script of its caller. */
export function checkCall({ report, sound, gaveUp, effects }: CheckedCall, turns: readonly CallerTurn[]): CallCheck {
  const started = report.timeline.flatMap(item =>
    item.kind === 'action' && item.phase === 'started' && CHANGING_ACTIONS.includes(item.action_id)
      ? [item.action_id]
      : [],
  )
  const keys = report.timeline.flatMap(item =>
    item.kind === 'digits' && item.offset_ms !== null ? [item.offset_ms] : [],
  )
  const deadAirMs = sound?.deadAir(keys) ?? null
  const noticed = report.run.outcome?.kind !== 'completed' || (deadAirMs ?? 0) > MAX_UNEXPLAINED_MS
  const { staleMs, cancelMs } = sound === null ? { staleMs: 0, cancelMs: null } : interruptions(report, sound)
  return {
    hang: gaveUp,
    doubles: Math.max(0, effects - new Set(started).size) + started.length - new Set(started).size,
    lost: report.run.outcome?.kind === 'completed' ? lostTurns(report, turns) : 0,
    stale_ms: staleMs,
    cancel_ms: cancelMs,
    unrecorded: noticed && !report.timeline.some(showsFailure),
    dead_air_ms: deadAirMs,
  }
}

/** Whether an item is an error, or a slow turn with its latency by service. */
function showsFailure(item: TimelineItem): boolean {
  return item.kind === 'error' || (item.kind === 'turn' && (item.latency.e2e ?? 0) > SLOW_TURN_MS)
}

/**
 * Sound of the agent after an interruption and before the next answer. The end of a call by a provider failure also stops the
 * agent, to apologise; that does not count as an interruption.
 */
function interruptions({ run, timeline, utterances }: CallReport, sound: CallSound) {
  const offsets = (items: readonly TimelineItem[], fits: (item: TimelineItem) => boolean) =>
    items.flatMap(item => (item.offset_ms !== null && fits(item) ? [item.offset_ms] : []))
  const answers = utterances.flatMap(({ role, start_ms }) => (role === 'agent' && start_ms !== null ? [start_ms] : []))
  const errors = offsets(timeline, item => item.kind === 'error')
  // An answer may follow the caller's words or keys; an answer that was interrupted at once is in no utterance.
  const inputs = offsets(
    timeline,
    item => item.kind === 'digits' || (item.kind === 'utterance' && item.role === 'user'),
  )
  // By order, not by time: the offset of an interruption is where the audio was cut, before the error that caused it.
  const end =
    run.outcome?.detail === 'provider_failed' ? timeline.findLastIndex(item => item.kind === 'error') : timeline.length
  const cuts = offsets(timeline.slice(0, end), item => item.kind === 'interruption' && !item.resumed)
  const all = cuts.map(at => {
    const until = Math.min(at + SILENT_UNTIL_MS, ...[...answers, ...errors, ...inputs].filter(offset => offset > at))
    return { staleMs: sound.agentWithin(at + SILENT_FROM_MS, until), cancelMs: sound.silentAfter(at, until) }
  })
  return {
    staleMs: all.reduce((sum, { staleMs }) => sum + staleMs, 0),
    cancelMs: all.length === 0 ? null : Math.max(...all.map(({ cancelMs }) => cancelMs)),
  }
}

/** Counts the turns for which no transcript line has half of the words. Half is enough: recognisers mishear on busy machines. */
function lostTurns({ utterances }: CallReport, turns: readonly CallerTurn[]): number {
  const lines = utterances.flatMap(({ role, text }) => (role === 'user' ? [new Set(wordsOf(text))] : []))
  let lost = 0
  for (const { act } of turns) {
    if (act.type !== 'say') continue
    const words = wordsOf(act.text)
    const index = lines.findIndex(line => words.filter(word => line.has(word)).length * 2 >= words.length)
    if (index === -1) lost++
    else lines.splice(index, 1)
  }
  return lost
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
}

/** The check of a call that did not end. */
export function neverEnded(hang: string): CallCheck {
  return { hang, doubles: 0, lost: 0, stale_ms: 0, cancel_ms: null, unrecorded: true, dead_air_ms: null }
}
