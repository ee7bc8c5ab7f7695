import type { Proof, ProofOptions, ProofOutcome } from './proof.ts'
import { checkCall, neverEnded } from './services/call-check.ts'
import { soundOf } from './services/call-recording.ts'
import { type ClinicCallResult, ClinicCalls, mapConcurrently } from './services/clinic-calls.ts'
import {
  FAILING_VOICES,
  FAILURE_CALLER,
  FAILURE_ROWS,
  type FailureRow,
  failAtAct,
  prepareFailure,
} from './services/failure-rows.ts'
import { PatientCaller } from './services/patient-caller.ts'
import { bookWithoutRun, deafened, type PlantedFault, withPlantedFaults } from './services/planted-faults.ts'

const AT_ONCE = 6
/** Voices send audio at twice real time, so that a failure in the middle of an utterance interrupts it. */
const PACE = 2
/** The voice in rows whose recogniser or model fails. */
const OTHER_VOICE = 'cartesia/sonic-2'

interface ServiceFailuresPlan {
  /** Default: the first `count` rows. */
  readonly rows?: readonly PlantedRow[]
  /** Calls at a time; default 6. */
  readonly atOnce?: number
}

/** A row with faults that its check must report. */
export type PlantedRow = FailureRow & { readonly planted?: readonly PlantedFault[] }

/**
 * Makes each service fail during a call to the clinic, in each way, once or permanently. The call completes, or the agent
 * apologises and ends it; nothing is done twice; the agent stops when it is interrupted; the timeline has the error.
 */
export async function proveServiceFailures(
  options: ProofOptions,
  plan: ServiceFailuresPlan = {},
): Promise<ProofOutcome> {
  const { count, line, progress } = options
  const { atOnce = AT_ONCE } = plan
  const rows: readonly PlantedRow[] = plan.rows ?? FAILURE_ROWS.slice(0, count)
  let caller: PatientCaller | null = null
  const calls = await ClinicCalls.open(async voice => {
    caller = await PatientCaller.prepare(FAILURE_CALLER, voice)
    return caller
  }, atOnce)
  let done = 0
  try {
    const checks = await mapConcurrently(rows, atOnce, async row => {
      const { planted = [] } = row
      const result = await failingCall(calls, row, caller!).catch((error: unknown) => failureText(error))
      const check =
        typeof result === 'string'
          ? neverEnded(result)
          : checkCall(withPlantedFaults(planted, { ...result, sound: await soundOf(result.report) }), FAILURE_CALLER)
      line({ proof: 'service-failures', ...row, ...check, ...(typeof result === 'string' ? {} : courseOf(result)) })
      progress(`${++done} of ${rows.length}`)
      return check
    })
    const hangs = checks.filter(({ hang }) => hang !== null).length
    const doubles = checks.reduce((sum, { doubles }) => sum + doubles, 0)
    const stale = checks.filter(({ stale_ms }) => stale_ms > 0).length
    const lost = checks.reduce((sum, { lost }) => sum + lost, 0)
    const unrecorded = checks.filter(({ unrecorded }) => unrecorded).length
    const worst_dead_air_ms = Math.max(0, ...checks.map(({ dead_air_ms }) => dead_air_ms ?? 0))
    const worst_cancel_ms = Math.max(0, ...checks.map(({ cancel_ms }) => cancel_ms ?? 0))
    const ok = hangs + doubles + stale + lost + unrecorded === 0
    return {
      ok,
      summary: { rows: rows.length, hangs, doubles, stale, lost, unrecorded, worst_dead_air_ms, worst_cancel_ms },
    }
  } finally {
    await calls.close()
  }
}

function failingCall(calls: ClinicCalls, row: PlantedRow, caller: PatientCaller): Promise<ClinicCallResult> {
  const { service, kind, fallback, planted = [] } = row
  const voices: readonly string[] = FAILING_VOICES
  const next = voices[(voices.indexOf(service) + 1) % voices.length]!
  return calls.run({
    stt: kind === 'recogniser' ? service : 'simulated/tones-1',
    tts: kind === 'voice' ? service : OTHER_VOICE,
    ...(kind === 'model' && { llm: service }),
    ...(fallback && { fallbackVoices: [next] }),
    standIns: { pace: PACE },
    prepare: async (standIns, server) => {
      prepareFailure(row, standIns.service(service))
      if (planted.includes('an effect without a run')) await bookWithoutRun(server)
    },
    ...(planted.includes('a deaf agent') && { alter: deafened, caller: caller.impatient() }),
    onAct: (act, standIns) => failAtAct(row, act, standIns.service(service)),
  })
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

function failureText(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

export const proof: Proof = {
  name: 'service-failures',
  seconds: 1200,
  count: FAILURE_ROWS.length,
  run: options => proveServiceFailures(options),
}
