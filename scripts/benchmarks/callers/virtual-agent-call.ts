import {
  type ActionRequest,
  type ActionRunner,
  AgentActions,
  CodeThreads,
  InMemoryEffectLedger,
} from '@parley/conversation'
import { OutboundHttp } from '@parley/egress'
import { agentCall } from '@parley/engine'
import type { CallReport } from '@parley/engine/testing'
import { RealTimeWork, VirtualServices } from '@parley/evaluation/testing'
import { ExampleServer, exampleDraft, withOrigin } from '@parley/examples'
import { compile, type Draft, type Plan } from '@parley/flow'
import { type Ms, SeededRandom, systemTime } from '@parley/kernel'
import { VirtualLine } from '@parley/leg'
import {
  CallerScript,
  type CallerStep,
  callerTurns,
  LineDamage,
  type LineDamageOptions,
  missedExpectations,
  PhoneCall,
  PhoneVoice,
} from '@parley/phone'
import { RulesModel, speechBandOf, type TextToSpeech, TonesRecogniser, TonesVoice } from '@parley/providers'
import type { CallerCase } from './cases.ts'

/** Monday, 23 November 2026, 9:00 UTC. */
const MONDAY = Date.UTC(2026, 10, 23, 9)
/** The caller hangs up when the call has lasted this long. */
const LONGEST_CALL_MS: Ms = 240_000
const ENDING_MS: Ms = 30_000
/** Delays of the services, as those of fast ones. */
const FIRST_TOKEN_MS: Ms = 200
const TOKEN_MS: Ms = 10
const FIRST_AUDIO_MS: Ms = 150
const ACTION_MS: Ms = 100
const LATENCY_MS: Ms = 20

/** The line between the caller and the agent. */
export interface CallerLine {
  /** Seed of everything that is random on the line; default 5. */
  readonly seed?: number
  /** G.722 in place of G.711; default false. */
  readonly isWideband?: boolean
  readonly damage?: LineDamageOptions
}

/** Who calls which agent. */
interface VirtualCaller extends Pick<CallerCase, 'agent' | 'language' | 'caller' | 'actionMs'> {
  /** Plays these steps in place of `caller`; the call then has no turns. */
  readonly steps?: readonly CallerStep[]
  /** Default: an undamaged narrowband line. */
  readonly line?: CallerLine
}

type AgentCallOptions = Parameters<typeof agentCall>[0]

/** How one call differs from that of the example agent, and what is observed of it. */
export interface CallVariant extends Pick<AgentCallOptions, 'recording' | 'onEvent'> {
  /** Default: the example as it is. */
  readonly draft?: Draft
  /** Called when the agent runs an action. */
  readonly onAction?: (request: ActionRequest) => void
  /** Called with each text that the agent gives its voice. */
  readonly onSpeech?: (text: string) => void
  /** An operator cancels the call this long after its answer; default: nobody does. */
  readonly cancelledAfterMs?: Ms
}

/** A call of the benchmark from both sides. */
export interface FinishedCall {
  readonly report: CallReport
  readonly turns: ReturnType<typeof callerTurns>
  readonly missed: ReturnType<typeof missedExpectations>
  /** When the far end's voice was heard, on the caller's clock. */
  readonly segments: readonly { readonly startMs: Ms; readonly endMs: Ms | null }[]
  readonly endMs: Ms
  /** Why the script was not played to its end; null: it was. */
  readonly scriptFailure: string | null
}

/**
 * Calls between a scripted caller and an example agent in virtual time: real signalling, media, voice, recogniser, dialogue and flow. While
 * a service computes, the clock stands still; afterwards it is advanced by the delay of a fast service.
 */
export class VirtualAgentCalls {
  readonly #tones = new TonesVoice()
  /** Calls begun; each has idempotency keys of its own. */
  #calls = 0
  /** Shared, so that the clock of no call advances while a service of another call computes. */
  readonly #work = new RealTimeWork()

  async close(): Promise<void> {
    await this.#tones.close()
  }

  /** Opens a server of the agents' actions, whose clock says Monday morning. */
  openServer(): Promise<ExampleServer> {
    return ExampleServer.open({ wallClock: () => MONDAY })
  }

  get voice(): TonesVoice {
    return this.#tones
  }

  /** A call to an agent whose actions use the server. */
  async run(example: VirtualCaller, server: ExampleServer, variant: CallVariant = {}): Promise<FinishedCall> {
    const { hostname, port } = new URL(server.origin)
    const egress = new OutboundHttp({ allow: [{ host: hostname, port: Number(port) }], time: systemTime })
    try {
      const plan = examplePlan(variant.draft ?? exampleDraft(example.agent).draft, server.origin)
      return await this.#call(example, plan, egress, variant)
    } finally {
      await egress.close()
    }
  }

  async #call(example: VirtualCaller, plan: Plan, egress: OutboundHttp, variant: CallVariant): Promise<FinishedCall> {
    const { seed = 5, isWideband = false, damage = {} } = example.line ?? {}
    const codecs: { codecs: ('PCMU' | 'G722')[] } = { codecs: [isWideband ? 'G722' : 'PCMU'] }
    const line = new VirtualLine({ seed, answering: codecs })
    const { time } = line
    const services = new VirtualServices(line, this.#work)
    line.packets.setConditions({ latencyMs: LATENCY_MS })
    const recogniser = new TonesRecogniser()
    const model = new RulesModel({ time, firstTokenMs: FIRST_TOKEN_MS, tokenMs: TOKEN_MS })
    const ledger = new InMemoryEffectLedger({ random: new SeededRandom(7 + this.#calls++), wallClock: () => MONDAY })
    const report = Promise.withResolvers<CallReport>()
    line.onOffer = leg => {
      const agent = {
        plan,
        agentId: null,
        agentVersion: null,
        recogniser,
        speechBand: speechBandOf(recogniser.id),
        voice: observed(services.voice(this.#tones, FIRST_AUDIO_MS), variant.onSpeech),
        voiceId: null,
        model: () => model,
        ledger: () => ledger,
        actions: () =>
          this.#actions(
            new AgentActions({
              egress,
              ledger,
              code: new CodeThreads(),
              secrets: NO_SECRETS,
              time: systemTime,
              wallClock: () => MONDAY,
            }),
            services,
            example.actionMs ?? ACTION_MS,
            variant.onAction,
          ),
        transferPolicy: () => ({ decision: 'allow', reason: null, policy_version: '1' }) as const,
      }
      const { recording, onEvent } = variant
      const call = agentCall({
        leg,
        time,
        agent,
        wallClock: () => MONDAY,
        random: new SeededRandom(3),
        ...(recording && { recording }),
        ...(onEvent && { onEvent }),
      })
      void call.report.then(report.resolve)
      leg.ring()
      leg.answer()
      const { cancelledAfterMs } = variant
      if (cancelledAfterMs !== undefined) time.at(time.now() + cancelledAfterMs, () => call.cancel())
    }
    const script = await CallerScript.prepare(
      example.steps ?? example.caller,
      new PhoneVoice(this.#tones, example.language),
    )
    const damaged = LineDamage.changes(damage) ? { damage: new LineDamage(damage, new SeededRandom(seed)) } : {}
    const phone = new PhoneCall(await line.dial(codecs), time, damaged)
    phone.setRecogniser(new TonesRecogniser(), example.language)
    const voice = phone.farVoice()
    let player: Parameters<typeof callerTurns>[0]['player'] = { acts: [], missed: [] }
    const followed = script.follow(phone, { onBegin: begun => (player = begun) }).then(
      () => null,
      (error: unknown) => {
        phone.leg.hangUp()
        return error instanceof Error ? error.message : String(error)
      },
    )
    const late = new AbortController()
    time.at(time.now() + LONGEST_CALL_MS, () => phone.leg.hangUp())
    time.at(time.now() + LONGEST_CALL_MS + ENDING_MS, () =>
      late.abort(new Error(`a call did not end within ${ENDING_MS} ms of the caller's hanging up`)),
    )
    const whole = Promise.all([followed, report.promise, phone.ended])
    const [scriptFailure, ended] = await services.pass(whole, late.signal)
    const evidence = { script: example.caller, player, segments: voice.segments, lines: phone.heardLines }
    return {
      report: ended,
      turns: example.steps === undefined ? callerTurns(evidence) : [],
      missed: example.steps === undefined ? missedExpectations(evidence) : [],
      segments: voice.segments,
      endMs: phone.positionMs,
      scriptFailure,
    }
  }

  #actions(
    http: AgentActions,
    services: VirtualServices,
    actionMs: Ms,
    onAction: CallVariant['onAction'],
  ): ActionRunner {
    return {
      run: async (request, signal) => {
        onAction?.(request)
        const running = http.run(request, signal)
        // The clock goes on until the caller's turn is over, for which a reversible action waits.
        await request.hold
        const outcome = await services.working(running)
        await services.wait(actionMs)
        return outcome
      },
    }
  }
}

const NO_SECRETS = { get: async () => null }

/** The plan of an example, or of a variant of it, whose actions use the server at `origin`. Throws for one that does not compile. */
export function examplePlan(draft: Draft, origin: string): Plan {
  const compiled = compile(withOrigin(draft, origin))
  if (!compiled.ok) throw new Error(`the agent "${draft.name}" does not compile`)
  return compiled.plan
}

function observed(voice: TextToSpeech, onSpeech: CallVariant['onSpeech']): TextToSpeech {
  if (onSpeech === undefined) return voice
  const { id, languages } = voice
  return {
    id,
    languages,
    readiness: language => voice.readiness(language),
    synthesize: (request, signal) => {
      onSpeech(request.text)
      return voice.synthesize(request, signal)
    },
    close: async () => {},
  }
}
