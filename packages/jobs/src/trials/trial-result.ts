import type { TimelineItem } from '@parley/conversation'
import type { ReplayReport, TrialRecord, TrialReport } from '@parley/evaluation'
import { percentiles } from '@parley/kernel'
import { UsageTotals } from '@parley/runs'
import type { JsonObject, TakenTrial, TrialResult, TrialRun } from '@parley/store'

interface TrialTimes {
  readonly run_id: string
  /** ISO times. */
  readonly started_at: string
  readonly ended_at: string
}

/** What is stored of a trial: its result, and its run if a conversation was held. */
export function trialResult(
  { verdict, assertions, error, record, replay = null }: TrialReport & Partial<Pick<ReplayReport, 'replay'>>,
  trial: TakenTrial,
  times: TrialTimes,
): TrialResult {
  return {
    verdict,
    assertions,
    error,
    guard_events: record?.guardEvents ?? [],
    replay,
    duration_ms: Math.max(0, Date.parse(times.ended_at) - Date.parse(times.started_at)),
    run: record === null ? null : runOf(record, trial, times),
  }
}

function runOf(record: TrialRecord, { test_case }: TakenTrial, times: TrialTimes): TrialRun {
  const { kind, ended_by, code } = record.outcome
  const isFailed = kind === 'error'
  const state = isFailed ? 'failed' : 'completed'
  const isAudio = test_case.mode === 'audio'
  const used = new UsageTotals()
  for (const usage of record.usage) used.add(usage)
  const stateAt = (at: string, state: string, phone_state: string | null) => ({
    at,
    offset_ms: null,
    kind: 'state',
    fields: { state, phone_state: isAudio ? phone_state : null },
  })
  return {
    ...times,
    channel: isAudio ? 'phone' : 'cloud',
    mode: isAudio ? 'inbound' : 'chat',
    state,
    outcome: { kind, detail: isFailed ? (code ?? 'internal') : null, sip_status: null, ended_by },
    disposition: kind,
    dynamic_variables: test_case.dynamic_variables,
    latency: latencyOf(record),
    events: [
      stateAt(times.started_at, 'admitted', 'admitted'),
      stateAt(times.started_at, 'running', 'active'),
      ...record.timeline.map(eventOf),
      stateAt(times.ended_at, state, 'ended'),
    ],
    utterances: record.utterances.map(utterance => ({ ...utterance })),
    measurements: used.measurements,
    effects: record.effects.filter(({ effect_kind }) => effect_kind === 'gateway_inference'),
  }
}

function eventOf({ seq: _, at, offset_ms, kind, ...fields }: TimelineItem) {
  return { at, offset_ms, kind, fields: fields as unknown as JsonObject }
}

function latencyOf({ latenciesMs }: TrialRecord): JsonObject | null {
  const e2e = percentiles(latenciesMs.map(ms => Math.round(ms)))
  if (e2e === null) return null
  return { e2e: { ...e2e }, endpointing: null, stt: null, llm: null, tts: null, engine: null }
}
