import { InMemoryEffectLedger, ModelMeter, type TimelineFact, type UsageReport } from '@parley/conversation'
import { agentCall, type CallReport, type VoiceAgent } from '@parley/engine'
import { type Ms, randomUint32, SeededRandom, type UnixMs } from '@parley/kernel'
import { VirtualLine } from '@parley/leg'
import {
  CallerScript,
  type CallerStep,
  type CallerTurn,
  callerTurns,
  LineDamage,
  type LineDamageOptions,
  PhoneCall,
  PhoneVoice,
  type ScriptPlayer,
} from '@parley/phone'
import { type LanguageModel, RulesModel, speechBandOf, type TextToSpeech, TonesRecogniser } from '@parley/providers'
import { EvaluationError } from '../errors.ts'
import { missedSteps } from '../expected-steps.ts'
import { MockedActions } from '../mocked-actions.ts'
import { personaCaller } from '../persona/persona-caller.ts'
import { LONGEST_PAUSE_INSIDE_MS } from '../script-caller.ts'
import { timedOut } from '../text-trial.ts'
import type { TrialOptions } from '../trial.ts'
import { TrialNotes, type TrialRecord } from '../trial-record.ts'
import { SpeakingPersona } from './speaking-persona.ts'
import { VirtualServices } from './virtual-services.ts'

type Recording = NonNullable<Parameters<typeof agentCall>[0]['recording']>
type TrialCall = ReturnType<typeof agentCall>

/** Delays of quick services, which the services without a network get. */
const FIRST_TOKEN_MS: Ms = 200
const TOKEN_MS: Ms = 10
const FIRST_AUDIO_MS: Ms = 150
const NETWORK_MS: Ms = 20
const MINUTE_MS: Ms = 60_000

/**
 * A runner of trials with audio: a call in virtual time between the simulated caller and the agent, with signalling, media and the voice
 * pair on both sides. `voice`: the pair's voice; the caller of this function closes it.
 * `recording`: gets the log of each call's inputs; default: none is written.
 */
export function audioTrialRunner(voice: TextToSpeech, recording?: Recording) {
  return async (options: TrialOptions): Promise<TrialRecord> => {
    const { mocks } = options.testCase
    if (mocks.some(({ respond }) => respond.kind === 'transfer' && respond.outcome === 'answered'))
      throw new EvaluationError('mode_not_supported', 'a transfer that is answered can be tested in mode "text" only')
    return new AudioTrial(options, voice, recording).run()
  }
}

class AudioTrial {
  readonly #options: TrialOptions
  readonly #voice: TextToSpeech
  readonly #recording: Recording | undefined
  readonly #line: VirtualLine
  readonly #services: VirtualServices
  readonly #notes: TrialNotes
  readonly #ledger: InMemoryEffectLedger
  readonly #actions: MockedActions
  readonly #usage: UsageReport[] = []
  readonly #begunAt: UnixMs
  #player: Pick<ScriptPlayer, 'acts' | 'missed'> = { acts: [], missed: [] }
  #call: TrialCall | null = null
  /** The caller said nothing but a pause inside its turn since its last words. */
  #isContinuing = false

  constructor(options: TrialOptions, voice: TextToSpeech, recording: Recording | undefined) {
    const { random, testCase, wallClock } = options
    this.#options = options
    this.#voice = voice
    this.#recording = recording
    const codecs = { codecs: codecsOf(options) }
    this.#line = new VirtualLine({ seed: randomUint32(random), answering: codecs })
    this.#line.packets.setConditions({ latencyMs: NETWORK_MS })
    this.#services = new VirtualServices(this.#line)
    this.#begunAt = wallClock()
    this.#notes = new TrialNotes(() => new Date(this.#wallClock()).toISOString())
    this.#ledger = new InMemoryEffectLedger({ random, wallClock: () => this.#wallClock() })
    const { time } = this.#line
    this.#actions = new MockedActions({
      mocks: testCase.mocks,
      ledger: this.#ledger,
      delay: ms => this.#services.wait(ms),
      now: () => time.now(),
    })
  }

  async run(): Promise<TrialRecord> {
    const { testCase, signal } = this.#options
    const { time } = this.#line
    const report = Promise.withResolvers<CallReport>()
    this.#line.onOffer = leg => {
      this.#call = this.#answer(leg)
      void this.#call.report.then(report.resolve)
      leg.ring()
      leg.answer()
    }
    const late = new AbortController()
    const over = AbortSignal.any([signal, late.signal])
    const script = await this.#callerScript(over)
    time.at(time.now() + testCase.timeout_ms, () => late.abort(timedOut(testCase.timeout_ms)))
    const phone = new PhoneCall(await this.#line.dial({ codecs: codecsOf(this.#options) }), time, this.#damage())
    phone.setRecogniser(new TonesRecogniser(), testCase.language)
    const { segments } = phone.farVoice()
    const failure = script
      .follow(phone, {
        onBegin: player => {
          this.#player = player
        },
        onStep: (_, step) => {
          if (testCase.caller.kind === 'script') this.#onStep(step, phone)
        },
      })
      .then(
        () => null,
        (error: unknown) => {
          phone.leg.hangUp()
          return error instanceof Error ? error.message : String(error)
        },
      )
    const whole = Promise.all([failure, report.promise, phone.ended])
    const [scriptFailure, ended] = await this.#services.pass(whole, over)
    const { outcome } = ended.run
    const isCut = this.#notes.turn > testCase.max_turns || outcome?.ended_by !== 'caller'
    if (outcome === null || (scriptFailure !== null && !isCut))
      throw new EvaluationError('caller_failed', scriptFailure ?? 'the call was refused')
    const { caller } = testCase
    const evidence = { player: this.#player, segments, lines: phone.heardLines }
    const turns = caller.kind === 'script' ? callerTurns({ script: caller, ...evidence }) : []
    return this.#record(ended, turns, scriptFailure === null)
  }

  #answer(leg: Parameters<VirtualLine['onOffer']>[0]): TrialCall {
    const { runId, random, testCase } = this.#options
    // Prompts have the time to the minute: every call begins with one, so that the same seed gives the same call.
    const callBegunAt = Math.floor(this.#begunAt / MINUTE_MS) * MINUTE_MS
    return agentCall({
      leg,
      agent: this.#agent(),
      time: this.#line.time,
      wallClock: () => callBegunAt + this.#line.time.now(),
      random: new SeededRandom(randomUint32(random)),
      runId,
      variables: testCase.dynamic_variables,
      onUsage: usage => void this.#usage.push(usage),
      ...(this.#recording && { recording: this.#recording }),
      onEvent: event => {
        if (event.type !== 'timeline' || event.item.kind === 'state') return
        const { seq: _, at: __, offset_ms, ...fact } = event.item
        this.#notes.add(fact as TimelineFact, offset_ms)
      },
    })
  }

  #agent(): VoiceAgent {
    const { plan, agentId, agentVersion, models } = this.#options
    const recogniser = new TonesRecogniser()
    return {
      plan,
      agentId,
      agentVersion,
      recogniser,
      speechBand: speechBandOf(recogniser.id),
      voice: this.#services.voice(this.#voice, FIRST_AUDIO_MS),
      voiceId: null,
      model: ref => this.#model(models(ref)),
      ledger: () => this.#ledger,
      actions: () => this.#actions,
      transferPolicy: destination => {
        this.#actions.transfer(destination)
        return { decision: 'allow', reason: null, policy_version: '1' }
      },
      // No call leaves the trial: a transfer fails as its mock says, or for lack of one.
      transfers: { refer: false, written: number => number },
    }
  }

  #model(model: LanguageModel): LanguageModel {
    if (model.identity.model === 'rules-1')
      return new RulesModel({ time: this.#line.time, firstTokenMs: FIRST_TOKEN_MS, tokenMs: TOKEN_MS })
    return this.#services.model(model, this.#options.time)
  }

  #callerScript(signal: AbortSignal): Promise<CallerScript> {
    const { testCase, random, models, time } = this.#options
    const { caller, language, voice: of } = testCase
    const chosen = of === null ? {} : { voice: of.voice_id, speed: of.rate }
    const voice = new PhoneVoice(this.#voice, language, time, chosen)
    if (caller.kind === 'script') return CallerScript.prepare(caller, voice)
    const persona = new SpeakingPersona(caller, {
      player: personaCaller(caller, {
        language,
        models: ref => this.#services.model(models(ref), time),
        meter: new ModelMeter(usage => void this.#usage.push(usage)),
        random,
      }),
      language,
      maxTurns: testCase.max_turns,
      random,
      signal,
      onTurn: () => {
        this.#notes.turn++
      },
    })
    return CallerScript.improvised(persona, { render: text => this.#services.working(voice.render(text)) })
  }

  #damage(): { readonly damage?: LineDamage } {
    const { testCase, random } = this.#options
    if (testCase.voice === null) return {}
    const { background, echo, packet_loss } = testCase.voice
    const damage: LineDamageOptions = {
      ...(background.kind !== 'none' && { background: { kind: background.kind, snrDb: background.snr_db } }),
      ...(packet_loss > 0 && { loss: packet_loss }),
      ...(echo !== null && { echo: { levelDb: echo.level_db, delayMs: echo.delay_ms } }),
    }
    return LineDamage.changes(damage) ? { damage: new LineDamage(damage, random) } : {}
  }

  /** Counts the caller's turns; after the last one it hangs up. */
  #onStep(step: CallerStep, phone: PhoneCall): void {
    if (step.type === 'silence') this.#isContinuing = step.ms <= LONGEST_PAUSE_INSIDE_MS && this.#notes.turn > 0
    if (step.type !== 'say' && step.type !== 'press') return
    if (!this.#isContinuing) this.#notes.turn++
    this.#isContinuing = false
    if (this.#notes.turn > this.#options.testCase.max_turns) phone.leg.hangUp()
  }

  #record({ run, utterances, latencies }: CallReport, turns: readonly CallerTurn[], isWhole: boolean): TrialRecord {
    const { caller } = this.#options.testCase
    const { timeline, speech, nodes } = this.#notes
    const outcome = run.outcome!
    const isCaller = outcome.ended_by === 'caller'
    const { heard, landings } = this.#evidence(turns, isWhole)
    return {
      timeline,
      utterances,
      speech,
      nodes,
      calls: this.#actions.calls,
      guardEvents: this.#actions.guardEvents,
      outcome: {
        kind: outcome.kind,
        ended_by: isCaller || outcome.ended_by === 'system' ? outcome.ended_by : 'agent',
        code: outcome.kind === 'error' ? outcome.detail : null,
      } as TrialRecord['outcome'],
      variable: name => this.#call?.variable(name),
      landings,
      latenciesMs: latencies.flatMap(({ e2e }) => e2e ?? []),
      missed: missedSteps(caller, { heard, landings, hungUp: !isCaller }),
      usage: this.#usage,
      effects: this.#ledger.records,
    }
  }

  /** By step (from 1): what the caller heard after it, and the node at which its turn ended. Steps that were not played have neither. */
  #evidence(turns: readonly CallerTurn[], isWhole: boolean) {
    const heard = new Map<number, string[]>()
    const landings = new Map<number, string>()
    const { caller } = this.#options.testCase
    if (caller.kind !== 'script') return { heard, landings }
    const lastPlayed = isWhole ? Number.POSITIVE_INFINITY : (turns.at(-1)?.step ?? -1)
    for (const index of caller.steps.keys()) {
      if (index > lastPlayed) break
      const current = turns.findLast(({ step }) => step <= index)
      const nextMs = turns.find(({ step }) => step > index)?.startMs ?? Number.POSITIVE_INFINITY
      const node = this.#notes.timeline.findLast(item => item.kind === 'node' && (item.offset_ms ?? 0) <= nextMs)
      heard.set(
        index + 1,
        turns.flatMap(turn => (turn.step === current?.step ? [turn.heard] : [])),
      )
      if (node?.kind === 'node') landings.set(index + 1, node.node_id)
    }
    return { heard, landings }
  }

  #wallClock(): UnixMs {
    return this.#begunAt + this.#line.time.now()
  }
}

function codecsOf({ testCase }: TrialOptions): ('PCMU' | 'G722')[] {
  return testCase.voice?.channel === 'wideband' ? ['G722'] : ['PCMU']
}
