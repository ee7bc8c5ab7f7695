import type { TimelineItem } from '@parley/conversation'
import type { CallReport } from '@parley/engine/testing'
import type { Ms } from '@parley/kernel'
import type { CallSound } from './call-sound.ts'
import type { ClinicCallResult } from './clinic-calls.ts'
import type { CallerTurn } from './patient-caller.ts'

/** After an interruption the agent is silent from here on, and cannot have an answer before this. */
const SILENT_FROM_MS: Ms = 100
const SILENT_UNTIL_MS: Ms = 1000
/** A wait longer than this has its cause in the timeline. */
const UNEXPLAINED_MS: Ms = 4000
/** An answer's wait on the timeline is counted from its turn, and is a little shorter. */
const TOLD_MS: Ms = 3000
/** What changes something at the clinic. */
const ACTS = ['book_slot', 'request_callback', 'register_patient']

/** What is wrong with a call whose services failed; all zero, null and false: nothing. */
interface CallCheck {
  readonly hang: string | null
  /** Number of effects at the clinic beyond one for each request of the call. */
  readonly doubles: number
  /** Turns of the caller on a completed call that the transcript lacks. */
  readonly lost: number
  /** Agent's sound behind an interruption. */
  readonly stale_ms: Ms
  /** The longest time from an interruption to the agent's silence; null: there was no interruption. */
  readonly cancel_ms: Ms | null
  /** The timeline has no item for a failure that the caller noticed. */
  readonly untold: boolean
  readonly dead_air_ms: Ms | null
}

/** An ended call and its sound; null: there is no recording. */
export interface CheckedCall extends ClinicCallResult {
  readonly sound: CallSound | null
}

/** `turns`: the caller's part. */
export function checkCall({ report, sound, gaveUp, effects }: CheckedCall, turns: readonly CallerTurn[]): CallCheck {
  const started = report.timeline.flatMap(item =>
    item.kind === 'action' && item.phase === 'started' && ACTS.includes(item.action_id) ? [item.action_id] : [],
  )
  const keys = report.timeline.flatMap(item =>
    item.kind === 'digits' && item.offset_ms !== null ? [item.offset_ms] : [],
  )
  const deadAirMs = sound?.deadAir(keys) ?? null
  const noticed = report.run.outcome?.kind !== 'completed' || (deadAirMs ?? 0) > UNEXPLAINED_MS
  const { staleMs, cancelMs } = sound === null ? { staleMs: 0, cancelMs: null } : interruptions(report, sound)
  return {
    hang: gaveUp,
    doubles: Math.max(0, effects - new Set(started).size) + started.length - new Set(started).size,
    lost: report.run.outcome?.kind === 'completed' ? lostTurns(report, turns) : 0,
    stale_ms: staleMs,
    cancel_ms: cancelMs,
    untold: noticed && !report.timeline.some(showsFailure),
    dead_air_ms: deadAirMs,
  }
}

/** An error, or an answer whose wait is divided among the services that took it. */
function showsFailure(item: TimelineItem): boolean {
  return item.kind === 'error' || (item.kind === 'turn' && (item.latency.e2e ?? 0) > TOLD_MS)
}

/**
 * Sound of the agent after an interruption and before the next answer. A call that ends by a provider failure also stops
 * the agent, to apologise: that is no interruption.
 */
function interruptions({ run, timeline, utterances }: CallReport, sound: CallSound) {
  const offsets = (items: readonly TimelineItem[], fits: (item: TimelineItem) => boolean) =>
    items.flatMap(item => (item.offset_ms !== null && fits(item) ? [item.offset_ms] : []))
  const answers = utterances.flatMap(({ role, start_ms }) => (role === 'agent' && start_ms !== null ? [start_ms] : []))
  const errors = offsets(timeline, item => item.kind === 'error')
  // From the caller's words or keys on, an answer may come; one that was cut off is in no utterance.
  const inputs = offsets(
    timeline,
    item => item.kind === 'digits' || (item.kind === 'utterance' && item.role === 'user'),
  )
  // By order, not by time: an interruption's offset is where the audio was cut, before the error that caused it.
  const gaveUp =
    run.outcome?.detail === 'provider_failed' ? timeline.findLastIndex(item => item.kind === 'error') : timeline.length
  const cuts = offsets(timeline.slice(0, gaveUp), item => item.kind === 'interruption' && !item.resumed)
  const all = cuts.map(at => {
    const until = Math.min(at + SILENT_UNTIL_MS, ...[...answers, ...errors, ...inputs].filter(offset => offset > at))
    return { staleMs: sound.agentWithin(at + SILENT_FROM_MS, until), cancelMs: sound.silentAfter(at, until) }
  })
  return {
    staleMs: all.reduce((sum, { staleMs }) => sum + staleMs, 0),
    cancelMs: all.length === 0 ? null : Math.max(...all.map(({ cancelMs }) => cancelMs)),
  }
}

/** Counts turns without a transcript line that has half of their words: recognisers mishear on busy machines. */
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
  return { hang, doubles: 0, lost: 0, stale_ms: 0, cancel_ms: null, untold: true, dead_air_ms: null }
}
