import { type Ms, samplesToMs, type Time } from '@parley/kernel'
import type { LegEnd } from '@parley/leg'
import {
  type AudioGap,
  type CallerScript,
  callerTurns,
  GapDetector,
  missedExpectations,
  type PhoneCall,
  type ScriptPlayer,
} from '@parley/phone'
import type { SpeechToText } from '@parley/providers'
import type { Failure } from './call-row.ts'
import { type CallEvidence, judgeCall } from './judge-call.ts'
import type { FleetCaller, Scenario } from './scenario.ts'

/** An unanswered call is given up by the SIP stack after 180 s. */
const ANSWER_WITHIN_MS: Ms = 200_000

interface FleetCallOptions {
  /** Dials, or takes an inbound call. */
  readonly open: () => Promise<PhoneCall>
  readonly caller: FleetCaller
  readonly script: CallerScript
  readonly checks: Scenario['checks']
  /** Recognises the far end's words; used where the script expects words. */
  readonly recogniser: SpeechToText
  /** Aborted: the run is over, and the call is hung up. */
  readonly cutOff: AbortSignal
  readonly isOutbound: boolean
  readonly time: Time
}

export interface FleetCallResult {
  readonly callId: string
  /** Null: the generator could not even dial. */
  readonly end: LegEnd | null
  readonly setupMs: Ms | null
  readonly durationMs: Ms
  readonly replies: readonly Ms[]
  readonly gaps: readonly AudioGap[]
  readonly concealedMs: Ms
  readonly failures: readonly Failure[]
}

/** Plays a caller's script on one call and judges the call. Never rejects. */
export async function followCall(options: FleetCallOptions): Promise<FleetCallResult> {
  const { open, time } = options
  const begunAt = time.now()
  let call: PhoneCall
  try {
    call = await open()
  } catch (error) {
    const failures = [{ kind: 'generator', detail: textOf(error) }]
    return { callId: '', end: null, setupMs: null, durationMs: 0, replies: [], gaps: [], concealedMs: 0, failures }
  }
  const { evidence, answeredAt } = await observe(call, options)
  const endedAt = time.now()
  const setupMs = options.isOutbound && answeredAt !== null ? answeredAt - begunAt : null
  const complete = { ...evidence, setupMs, durationMs: answeredAt === null ? 0 : endedAt - answeredAt }
  const { end, durationMs, gaps, concealedMs, turns } = complete
  const replies = turns.flatMap(turn => turn.replyMs ?? [])
  const failures = judgeCall(complete, options.checks)
  return { callId: call.leg.callId, end, setupMs, durationMs, replies, gaps, concealedMs, failures }
}

async function observe(call: PhoneCall, options: FleetCallOptions) {
  const { caller, script, checks, recogniser, cutOff, time } = options
  const detector = new GapDetector(checks.gap_ms)
  call.listen((audio, atSample) => detector.hear(audio, atSample))
  if (caller.caller.steps.some(step => (step.expect?.hears.length ?? 0) > 0))
    call.setRecogniser(recogniser, caller.language)
  let cut: CallEvidence['cutOff'] = null
  const hangUp = (reason: 'too-long' | 'run-over') => {
    cut ??= reason
    call.leg.hangUp()
  }
  let answeredAt: Ms | null = null
  let limit = time.at(Number.MAX_SAFE_INTEGER, () => {})
  void call.waitFor('answered', ANSWER_WITHIN_MS).then(
    () => {
      answeredAt = time.now()
      limit.cancel()
      limit = time.at(answeredAt + checks.call_s * 1000, () => hangUp('too-long'))
    },
    () => {},
  )
  const onRunOver = () => hangUp('run-over')
  cutOff.addEventListener('abort', onRunOver)
  if (cutOff.aborted) onRunOver()
  let player: ScriptPlayer | null = null
  let scriptFailure: string | null = null
  try {
    await script.follow(call, {
      answerWithinMs: ANSWER_WITHIN_MS,
      onBegin: begun => {
        player = begun
      },
    })
  } catch (error) {
    scriptFailure = textOf(error)
    call.leg.hangUp()
  }
  const end = await call.ended
  limit.cancel()
  cutOff.removeEventListener('abort', onRunOver)
  const { segments } = call.farVoice()
  const played = { script: caller.caller, player: player ?? { acts: [], missed: [] } }
  const concealed = end.media?.statistics.concealedSamples ?? 0
  const evidence = {
    ...played,
    end,
    heardVoice: segments.length > 0,
    turns: callerTurns({ ...played, segments, lines: call.heardLines }),
    missed: missedExpectations(played),
    gaps: detector.gaps,
    concealedMs: samplesToMs(concealed, call.leg.format),
    scriptFailure,
    cutOff: cut,
  }
  return { evidence, answeredAt: answeredAt as Ms | null }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
