import { type ActionRunner, AgentActions, CodeThreads, InMemoryEffectLedger } from '@parley/conversation'
import { OutboundHttp } from '@parley/egress'
import { agentCall, type CallReport } from '@parley/engine/testing'
import { type ExampleName, ExampleServer, exampleDraft, withOrigin } from '@parley/examples'
import { compile, type Plan } from '@parley/flow'
import { type Ms, SeededRandom, systemTime, type Time } from '@parley/kernel'
import { VirtualLine } from '@parley/leg/testing'
import { CallerScript, type CallerStep, callerTurns, missedExpectations, PhoneCall, PhoneVoice } from '@parley/phone'
import { RulesModel, speechBandOf, type TextToSpeech, TonesRecogniser, TonesVoice } from '@parley/providers'
import type { CallerCase } from './cases.ts'

/** Monday, 23 November 2026, 9:00 UTC. */
const MONDAY = Date.UTC(2026, 10, 23, 9)
const STEP_MS: Ms = 5
const LONGEST_CALL_MS: Ms = 240_000
/** Delays of the services: those of quick ones. */
const FIRST_TOKEN_MS: Ms = 200
const TOKEN_MS: Ms = 10
const FIRST_AUDIO_MS: Ms = 150
const ACTION_MS: Ms = 100
const LATENCY_MS: Ms = 20

/** Who calls which agent. */
interface VirtualCaller extends Pick<CallerCase, 'agent' | 'language' | 'caller' | 'actionMs'> {
  /** Plays these steps in place of `caller`; the call then has no turns. */
  readonly steps?: readonly CallerStep[]
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
 * Calls between a scripted caller and an example agent in virtual time: real signalling, media, voice, recogniser, dialogue and flow. The
 * clock stands still while a service works and then shows the delay of a quick service.
 */
export class VirtualAgentCalls {
  readonly #tones = new TonesVoice()
  /** Work in real time that the virtual clock waits for. */
  #working = 0

  async close(): Promise<void> {
    await this.#tones.close()
  }

  /** Opens a server of the agents' actions, whose clock says Monday morning. */
  openServer(): Promise<ExampleServer> {
    return ExampleServer.open({ wallClock: () => MONDAY })
  }

  /** A call to an agent whose actions use the server. */
  async run(example: VirtualCaller, server: ExampleServer): Promise<FinishedCall> {
    const { hostname, port } = new URL(server.origin)
    const egress = new OutboundHttp({ allow: [{ host: hostname, port: Number(port) }], time: systemTime })
    try {
      return await this.#call(example, planOf(example.agent, server.origin), egress)
    } finally {
      await egress.close()
    }
  }

  async #call(example: VirtualCaller, plan: Plan, egress: OutboundHttp): Promise<FinishedCall> {
    const line = new VirtualLine({ seed: 5 })
    const { time } = line
    line.packets.setConditions({ latencyMs: LATENCY_MS })
    const recogniser = new TonesRecogniser()
    const model = new RulesModel({ time, firstTokenMs: FIRST_TOKEN_MS, tokenMs: TOKEN_MS })
    const ledger = new InMemoryEffectLedger({ random: new SeededRandom(7), wallClock: () => MONDAY })
    const report = Promise.withResolvers<CallReport>()
    line.onOffer = leg => {
      const agent = {
        plan,
        agentId: null,
        agentVersion: null,
        recogniser,
        speechBand: speechBandOf(recogniser.id),
        voice: this.#voice(time),
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
            time,
            example.actionMs ?? ACTION_MS,
          ),
        transferPolicy: () => ({ decision: 'allow', reason: null, policy_version: '1' }) as const,
      }
      const call = agentCall({ leg, time, agent, wallClock: () => MONDAY, random: new SeededRandom(3) })
      void call.report.then(report.resolve)
      leg.ring()
      leg.answer()
    }
    const script = await CallerScript.prepare(
      example.steps ?? example.caller,
      new PhoneVoice(this.#tones, example.language),
    )
    const phone = new PhoneCall(await line.dial(), time)
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
    const whole = Promise.all([followed, report.promise, phone.ended])
    const [scriptFailure, ended] = await this.#pass(line, whole)
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

  /** Lets virtual time pass until `done` settles. */
  async #pass<Result>(line: VirtualLine, done: Promise<Result>): Promise<Result> {
    let isOver = false
    const over = () => {
      isOver = true
    }
    done.then(over, over)
    for (let passed = 0; !isOver; passed += STEP_MS) {
      if (passed > LONGEST_CALL_MS) throw new Error(`a call lasted longer than ${LONGEST_CALL_MS} ms`)
      await line.pass(STEP_MS, STEP_MS)
      while (this.#working > 0) await new Promise(resolve => setImmediate(resolve))
    }
    return done
  }

  #voice(time: Time): TextToSpeech {
    const tones = this.#tones
    const counted = <Result>(work: Promise<Result>) => this.#counted(work)
    return {
      id: tones.id,
      languages: tones.languages,
      readiness: language => tones.readiness(language),
      async *synthesize(request, signal) {
        const chunks = tones.synthesize(request, signal)[Symbol.asyncIterator]()
        for (let isFirst = true; ; isFirst = false) {
          const next = await counted(chunks.next())
          if (next.done === true) return
          if (isFirst) await delay(time, FIRST_AUDIO_MS)
          yield next.value
        }
      },
      close: async () => {},
    }
  }

  #actions(http: AgentActions, time: Time, actionMs: Ms): ActionRunner {
    return {
      run: async (request, signal) => {
        const outcome = await this.#counted(http.run(request, signal))
        await delay(time, actionMs)
        return outcome
      },
    }
  }

  async #counted<Result>(work: Promise<Result>): Promise<Result> {
    this.#working++
    try {
      return await work
    } finally {
      this.#working--
    }
  }
}

const NO_SECRETS = { get: async () => null }

function planOf(name: ExampleName, origin: string): Plan {
  const compiled = compile(withOrigin(exampleDraft(name).draft, origin))
  if (!compiled.ok) throw new Error(`the example agent "${name}" does not compile`)
  return compiled.plan
}

function delay(time: Time, ms: Ms): Promise<void> {
  return new Promise(resolve => time.at(time.now() + ms, resolve))
}
