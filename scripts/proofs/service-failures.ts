import type { TimelineItem } from '@parley/conversation'
import type { CallReport } from '@parley/engine'
import type { ExampleServer } from '@parley/examples'
import type { Ms } from '@parley/kernel'
import type { Proof, ProofOptions, ProofOutcome } from './proof.ts'
import { soundOf } from './services/call-recording.ts'
import type { CallSound } from './services/call-sound.ts'
import { type ClinicCallResult, ClinicCalls, inTurns } from './services/clinic-calls.ts'
import {
  FAILING_VOICES,
  FAILURE_CALLER,
  FAILURE_ROWS,
  type FailureRow,
  failAtAct,
  prepareFailure,
} from './services/failure-rows.ts'
import { PatientCaller } from './services/patient-caller.ts'

const AT_ONCE = 6
/** Voices talk twice as fast as they are heard: what fails in the middle of an utterance finds it under way. */
const PACE = 2
/** What agents speak with while their ears fail. */
const KIND_VOICE = 'cartesia/sonic-2'
/** After an interruption the agent is silent from here on, and cannot have an answer before this. */
const SILENT_FROM_MS: Ms = 100
const SILENT_UNTIL_MS: Ms = 1000
/** A wait longer than this has its cause in the timeline. */
const UNEXPLAINED_MS: Ms = 4000
/** What changes something at the clinic. */
const ACTS = ['book_slot', 'request_callback', 'register_patient']

export interface ServiceFailuresPlan {
  /** Default all, as many as `count` says. */
  readonly rows?: readonly FailureRow[]
  readonly planted?: 'nothing' | 'an effect of nobody'
}

interface Verdict {
  readonly hang: string | null
  /** What the clinic was made to do beyond what the call asked for once. */
  readonly doubles: number
  /** Agent's sound behind an interruption. */
  readonly stale_ms: Ms
  /** The longest time from an interruption to the agent's silence; null: nobody interrupted. */
  readonly cancel_ms: Ms | null
  /** The timeline says nothing of what the caller noticed. */
  readonly untold: boolean
  readonly dead_air_ms: Ms | null
}

/**
 * Each service fails in the middle of a call of the clinic, in each way, once or for good: the call is completed or ends
 * honestly, does nothing twice, is silent when it is interrupted, and its timeline says why.
 */
export async function proveServiceFailures(
  options: ProofOptions,
  plan: ServiceFailuresPlan = {},
): Promise<ProofOutcome> {
  const { count, line, progress } = options
  const { rows = FAILURE_ROWS.slice(0, count), planted = 'nothing' } = plan
  const calls = await ClinicCalls.open(voice => PatientCaller.prepare(FAILURE_CALLER, voice), AT_ONCE)
  let done = 0
  try {
    const verdicts = await inTurns(rows, AT_ONCE, async row => {
      const prepare = planted === 'nothing' ? undefined : actOfNobody
      const result = await failingCall(calls, row, prepare).catch((error: unknown) => failureText(error))
      const verdict = typeof result === 'string' ? lost(result) : await judged(result)
      line({ proof: 'service-failures', ...row, ...verdict, ...(typeof result === 'string' ? {} : courseOf(result)) })
      progress(`${++done} of ${rows.length}`)
      return verdict
    })
    const hangs = verdicts.filter(({ hang }) => hang !== null).length
    const doubles = verdicts.reduce((sum, { doubles }) => sum + doubles, 0)
    const stale = verdicts.filter(({ stale_ms }) => stale_ms > 0).length
    const untold = verdicts.filter(({ untold }) => untold).length
    const worst_dead_air_ms = Math.max(0, ...verdicts.map(({ dead_air_ms }) => dead_air_ms ?? 0))
    const ok = hangs + doubles + stale + untold === 0
    return { ok, summary: { rows: rows.length, hangs, doubles, stale, untold, worst_dead_air_ms } }
  } finally {
    await calls.close()
  }
}

function failingCall(
  calls: ClinicCalls,
  row: FailureRow,
  prepare?: (server: ExampleServer) => Promise<void>,
): Promise<ClinicCallResult> {
  const { service, kind, fallback } = row
  const voices: readonly string[] = FAILING_VOICES
  const next = voices[(voices.indexOf(service) + 1) % voices.length]!
  return calls.run({
    stt: kind === 'ear' ? service : 'simulated/tones-1',
    tts: kind === 'voice' ? service : KIND_VOICE,
    ...(kind === 'model' && { llm: service }),
    ...(fallback && { fallbackVoices: [next] }),
    standIns: { pace: PACE },
    prepare: async (standIns, server) => {
      prepareFailure(row, standIns.all[service])
      await prepare?.(server)
    },
    onAct: (act, standIns) => failAtAct(row, act, standIns.all[service]),
  })
}

async function judged({ report, gaveUp, effects }: ClinicCallResult): Promise<Verdict> {
  const sound = await soundOf(report)
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
    stale_ms: staleMs,
    cancel_ms: cancelMs,
    untold: noticed && !report.timeline.some(tells),
    dead_air_ms: deadAirMs,
  }
}

/** An error, or an answer whose wait is divided among the services that took it. */
function tells(item: TimelineItem): boolean {
  return item.kind === 'error' || (item.kind === 'turn' && (item.latency.e2e ?? 0) > UNEXPLAINED_MS)
}

/**
 * What the caller heard of the agent after interrupting it, before it can have had an answer. A call that is given up cuts
 * the agent too, for a word of regret: that is no interruption.
 */
function interruptions({ run, timeline, utterances }: CallReport, sound: CallSound) {
  const offsets = (items: readonly TimelineItem[], fits: (item: TimelineItem) => boolean) =>
    items.flatMap(item => (item.offset_ms !== null && fits(item) ? [item.offset_ms] : []))
  const answers = utterances.flatMap(({ role, start_ms }) => (role === 'agent' && start_ms !== null ? [start_ms] : []))
  const errors = offsets(timeline, item => item.kind === 'error')
  // What the caller said or pressed instead: from here on an answer may come, and one that nobody heard out is in no utterance.
  const said = offsets(timeline, item => item.kind === 'digits' || (item.kind === 'utterance' && item.role === 'user'))
  // By their order: an interruption is told with the place where it cut, which lies before the error that caused it.
  const gaveUp =
    run.outcome?.detail === 'provider_failed' ? timeline.findLastIndex(item => item.kind === 'error') : timeline.length
  const cuts = offsets(timeline.slice(0, gaveUp), item => item.kind === 'interruption' && !item.resumed)
  const all = cuts.map(at => {
    const until = Math.min(at + SILENT_UNTIL_MS, ...[...answers, ...errors, ...said].filter(offset => offset > at))
    return { staleMs: sound.agentWithin(at + SILENT_FROM_MS, until), cancelMs: sound.silentAfter(at, until) }
  })
  return {
    staleMs: all.reduce((sum, { staleMs }) => sum + staleMs, 0),
    cancelMs: all.length === 0 ? null : Math.max(...all.map(({ cancelMs }) => cancelMs)),
  }
}

function courseOf({ report, repeats }: ClinicCallResult): object {
  const { run, timeline, utterances } = report
  return {
    outcome: run.outcome?.kind ?? null,
    detail: run.outcome?.detail ?? null,
    ended_by: run.outcome?.ended_by ?? null,
    repeats,
    duration_ms: report.end.media?.recording?.durationMs ?? null,
    interrupted: utterances.filter(line => line.interrupted).length,
    said: utterances.filter(line => line.role === 'user').map(line => line.text),
    errors: timeline.flatMap(item =>
      item.kind === 'error' ? [`${item.offset_ms ?? '-'} ${item.code}: ${item.message}`] : [],
    ),
  }
}

/** A call that did not come to its end at all. */
function lost(hang: string): Verdict {
  return { hang, doubles: 0, stale_ms: 0, cancel_ms: null, untold: true, dead_air_ms: null }
}

function failureText(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The planted fault: the clinic is asked for something that no action of the call asked for. */
async function actOfNobody({ origin }: ExampleServer): Promise<void> {
  const body = JSON.stringify({ patient: '1042' })
  await fetch(`${origin}/clinic/callbacks`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
}

export const proof: Proof = {
  name: 'service-failures',
  seconds: 1200,
  count: FAILURE_ROWS.length,
  run: options => proveServiceFailures(options),
}
