import { type Ms, systemTime } from '@parley/kernel'
import type { CallLeg, LegSecurity, SipCallLeg, SipRequest } from '@parley/leg'
import type { TextToSpeech } from '@parley/providers'
import { agentHandler } from '../agent-handler.ts'
import type { CallPlan, HandlerFactory } from '../call-plan.ts'
import { calledNumbers, e164Digits } from '../called-number.ts'
import type { InboundRouter } from '../inbound-router.ts'
import { lineTestHandler } from '../line-test.ts'
import { InboundRate } from '../runs/inbound-rate.ts'
import { TokenRouter } from '../token-router.ts'
import type { VoiceAgent } from '../voice/voice-agent.ts'

/** What talks on a call of a test: an agent, or the line test in this voice. */
type TestTalker = { readonly agent: VoiceAgent } | { readonly voice: TextToSpeech; readonly language?: string }

/** An engine with these takes calls on a machine whose processors are busy with other tests, where it would otherwise answer 503. */
export const ADMITS_WHEN_LATE = { maxMediaLatenessMs: 10_000, maxAudioReadLatenessMs: 10_000 }

interface TestCallOptions {
  /** Null: not recorded, the default. */
  readonly recordingPath?: string | null
  /** How long an inbound call rings; default 0. */
  readonly ringMs?: Ms
}

/** The plan of a call that is no run, on the system's time. */
export function testPlan(talker: TestTalker, { recordingPath = null, ringMs = 0 }: TestCallOptions = {}): CallPlan {
  return {
    createHandler: handlerOf(talker),
    recording: recordingPath === null ? null : { path: recordingPath },
    ...(ringMs > 0 && {
      whileRinging: async leg => {
        await ringing(leg, ringMs)
        return { kind: 'answer' }
      },
    }),
  }
}

/** The plan of a call on which nobody talks: media is open, and nothing reads or speaks. */
export const SILENT_CALL: CallPlan = {
  recording: null,
  createHandler: () => ({
    onLeg: () => {},
    drain: () => {},
    stop: () => {},
    settled: async () => {},
    result: { utterances: [], timeline: [], digits: '', latencies: [], preemptive: null },
  }),
}

export interface TestRoute {
  readonly token: string
  readonly security: LegSecurity
  /** Called for each call. */
  readonly plan: () => CallPlan
  /** E.164; calls to other numbers are answered 404. Default: every number is accepted. */
  readonly numbers?: readonly string[]
  /** Calls per second that are taken, two seconds' worth at once; default: no limit. */
  readonly inboundCps?: number
}

/** A router whose calls are no runs. */
export function testRouter(routes: readonly TestRoute[]): InboundRouter {
  return new TokenRouter(
    routes.map(({ token, security, plan, numbers, inboundCps }) => ({
      token,
      ...(inboundCps !== undefined && { takeRateSlot: rateOf(inboundCps) }),
      decide: invite =>
        numbers === undefined || reaches(numbers, invite)
          ? { kind: 'taken', security, plan: plan() }
          : { kind: 'refused', status: 404 },
    })),
  )
}

/** Counts the calls of one trunk as the engine does. */
function rateOf(inboundCps: number): () => boolean {
  const rate = new InboundRate()
  const trunk = { scope: { tenant_id: 'test' }, trunk_id: 'test', details: { inbound_cps: inboundCps } }
  return () => rate.take([trunk], systemTime.now())
}

function reaches(numbers: readonly string[], invite: SipRequest): boolean {
  return calledNumbers(invite, null).some(called => numbers.includes(called))
}

function handlerOf(talker: TestTalker): HandlerFactory {
  if (!('agent' in talker)) {
    const { voice, language = 'en' } = talker
    return lineTestHandler({ voice, language, time: systemTime, wallClock: Date.now })
  }
  const { agent } = talker
  return control => {
    const { from, to } = (control.leg as SipCallLeg).parties
    const call = {
      run_id: null,
      agent_id: agent.agentId,
      agent_version: agent.agentVersion,
      channel: 'phone',
      from_number: e164(from),
      to_number: e164(to),
    } as const
    return agentHandler({ agent, facts: { call }, time: systemTime })(control)
  }
}

/** Null: the user part is not a number, such as the token of an address. */
function e164(user: string | null): string | null {
  const digits = user === null ? null : e164Digits(user)
  return digits === null ? null : `+${digits}`
}

/** Resolves after `ms`, or soon after the caller gave up. */
async function ringing(leg: CallLeg, ms: Ms): Promise<void> {
  const until = systemTime.now() + ms
  while (leg.state !== 'ended' && systemTime.now() < until)
    await new Promise(resolve => setTimeout(resolve, Math.min(50, ms)))
}
