import type { EffectLedger } from '@parley/conversation'
import { InMemoryEffectLedger, type SwapRequest, type TimelineItem, type UsageReport } from '@parley/conversation'
import type { ActionOutcome, ActionRequest } from '@parley/conversation/testing'
import type { Endpointing } from '@parley/dialogue'
import type { Draft, Plan } from '@parley/flow'
import { type Ms, msToSamples, NARROWBAND, type Samples, SeededRandom } from '@parley/kernel'
import type { CallLeg } from '@parley/leg'
import { VirtualLine } from '@parley/leg/testing'
import type { CodecName } from '@parley/media'
import type { GenerationEvent, GenerationRequest, LanguageModel } from '@parley/providers'
import { Call, type CallReport, type Successor } from '../call.ts'
import type { CallControl, HandOver } from '../call-handler.ts'
import { Ticker } from '../ticker.ts'
import type { VoiceAgent, VoiceCallFacts } from '../voice/voice-agent.ts'
import { VoiceConversation } from '../voice/voice-conversation.ts'
import { NO_RUN, planOf } from './drafts.ts'
import { type RealtimeAnswer, ScriptedRealtime } from './scripted-realtime.ts'
import { FingerprintVoice, ScriptedRecogniser } from './scripted-speech.ts'
import { voiceSound } from './sounds.ts'

/** The model's answer to one request. */
type ModelAnswer = (request: GenerationRequest) => readonly GenerationEvent[]

export interface HarnessOptions {
  readonly draft: Draft
  readonly answers?: readonly ModelAnswer[]
  /** Serves the agent's actions; default: each succeeds. */
  readonly act?: (request: ActionRequest) => Promise<Partial<ActionOutcome>>
  readonly endpointing?: Endpointing
  /** Answers of a speech-to-speech model, which hears by the harness's recogniser; default: the agent has none. */
  readonly realtime?: readonly RealtimeAnswer[]
  readonly recogniserLagMs?: Ms
  /** Time that the voice takes for each word; it then also ignores its abort signal. Default: all audio at once. */
  readonly voiceWordMs?: Ms
  /** Latency of signalling and of audio; default 10 and 20. */
  readonly latency?: { readonly signallingMs?: Ms; readonly soundMs?: Ms }
  /** Codecs of both ends; default those of a leg. */
  readonly codecs?: readonly CodecName[]
  /** Overrides of the harness's agent. */
  readonly agent?: Partial<VoiceAgent>
  /** The agent to which the flow hands the call. Default: none takes it. */
  readonly successor?: Draft
}

const STEP_MS: Ms = 5
const SCOPE = { owner_id: 'test', environment: 'test', tenant_id: 'test' }

/** A whole call in virtual time: a caller's leg, real signalling and media between, an agent with scripted services. */
export class AudioHarness {
  readonly line: VirtualLine
  readonly voice: FingerprintVoice
  readonly recogniser: ScriptedRecogniser
  /** Without answers unless the options have them. */
  readonly realtime: ScriptedRealtime
  readonly requests: GenerationRequest[] = []
  readonly actions: ActionRequest[] = []
  readonly items: TimelineItem[] = []
  readonly used: UsageReport[] = []
  /** What another agent reported that took over the call. */
  readonly itemsOfSuccessor: TimelineItem[] = []
  readonly swaps: SwapRequest[] = []
  handOver: HandOver | null = null
  isSuccessorAbandoned = false
  report: CallReport | null = null
  handler: VoiceConversation | null = null
  /** The agent's end of the call. */
  leg: CallLeg | null = null
  call: Call | null = null
  #answers: ModelAnswer[]

  private constructor(options: HarnessOptions) {
    const { codecs } = options
    this.line = new VirtualLine(codecs === undefined ? {} : { answering: { codecs } })
    const { time, signalling, packets } = this.line
    this.recogniser = new ScriptedRecogniser(time, options.recogniserLagMs)
    this.realtime = new ScriptedRealtime(this.recogniser, options.realtime ?? [])
    const wordMs = options.voiceWordMs
    this.voice = new FingerprintVoice(wordMs === undefined ? null : { time, wordMs })
    const { signallingMs = 10, soundMs = 20 } = options.latency ?? {}
    signalling.latencyMs = signallingMs
    packets.setConditions({ latencyMs: soundMs })
    this.#answers = [...(options.answers ?? [])]
    const plan = planOf(options.draft)
    this.line.onOffer = leg => {
      this.#createHandler(leg, plan, options)
      leg.ring()
      leg.answer()
    }
  }

  /** Dials; the call is set up as time passes. */
  static async open(options: HarnessOptions): Promise<AudioHarness> {
    const harness = new AudioHarness(options)
    await harness.line.dial(options.codecs === undefined ? {} : { codecs: options.codecs })
    return harness
  }

  get caller(): CallLeg {
    return this.line.a.leg!
  }

  get now(): Ms {
    return this.line.time.now()
  }

  pass(ms: Ms): Promise<void> {
    return this.line.pass(ms, STEP_MS)
  }

  /** Lets time pass until `done` returns true; throws after `ms`. */
  async until(done: () => boolean, ms: Ms, what: string): Promise<void> {
    for (let left = ms; !done(); left -= STEP_MS) {
      if (left <= 0) throw new Error(`${what}: not within ${ms} ms; ${JSON.stringify(this.items)}`)
      await this.pass(STEP_MS)
    }
  }

  /** The caller begins to say `text`; returns its duration. */
  says(text: string): Ms {
    const ms = text.split(/\s+/).length * 300
    this.caller.play(voiceSound(ms))
    this.recogniser.willHear(text)
    return ms
  }

  coughs(ms: Ms): void {
    this.caller.play(voiceSound(ms))
    this.recogniser.willNotUnderstand(ms)
  }

  /** Audio that the caller has received so far, from the opening of its media on. */
  heard(): Int16Array {
    return this.line.a.captured().left
  }

  /** Number of samples in `heard` so far. */
  heardNow(): Samples {
    return this.heard().length
  }

  timeline<Kind extends TimelineItem['kind']>(kind: Kind): (TimelineItem & { kind: Kind })[] {
    return this.items.filter((item): item is TimelineItem & { kind: Kind } => item.kind === kind)
  }

  #createHandler(leg: CallLeg, plan: Plan, options: HarnessOptions): void {
    const { time } = this.line
    this.leg = leg
    const call = new Call({
      leg,
      time,
      ticker: new Ticker(time),
      createHandler: agentLine => this.#conversation(agentLine, plan, options),
      owner: {
        run: { runId: 'first', scope: SCOPE },
        onEvent: event => {
          if (event.type === 'timeline') this.items.push(event.item)
          if (event.type === 'handed-over') this.handOver = event.handOver
        },
        prepareSuccessor: async request => this.#successor(request, options),
      },
    })
    this.call = call
    void call.report.then(report => {
      this.report = report
    })
  }

  #conversation(
    line: CallControl,
    plan: Plan,
    options: HarnessOptions,
    carried: Pick<VoiceCallFacts, 'history' | 'variables'> = {},
  ): VoiceConversation {
    const { time } = this.line
    this.handler = new VoiceConversation({
      agent: {
        plan,
        agentId: null,
        agentVersion: null,
        voiceId: null,
        recogniser: this.recogniser,
        voice: this.voice,
        model: () => this.#model(),
        ledger: (): EffectLedger => new InMemoryEffectLedger({ random: new SeededRandom(7), wallClock: () => 0 }),
        actions: () => ({ run: request => this.#run(request, options) }),
        preparesHoldingLines: false,
        ...(options.realtime && { realtime: this.realtime }),
        transferPolicy: () => ({ decision: 'allow', reason: null, policy_version: '1' }),
        ...(options.endpointing && { endpointing: options.endpointing }),
        ...options.agent,
      },
      facts: {
        ...carried,
        call: NO_RUN,
      },
      line,
      time,
      wallClock: () => 0,
      random: new SeededRandom(3),
      onUsage: usage => this.used.push(usage),
    })
    return this.handler
  }

  #successor(request: SwapRequest, options: HarnessOptions): Successor | null {
    this.swaps.push(request)
    const { successor: draft } = options
    if (draft === undefined) return null
    return {
      run: { runId: 'second', scope: SCOPE },
      recording: null,
      createHandler: (line, carried) => this.#conversation(line, planOf(draft), options, carried),
      onCall: () => {},
      onEvent: event => {
        if (event.type === 'timeline') this.itemsOfSuccessor.push(event.item)
      },
      onAbandoned: () => {
        this.isSuccessorAbandoned = true
      },
    }
  }

  #model(): LanguageModel {
    const answers = this.#answers
    const { requests } = this
    return {
      identity: { provider: 'test', model: 'scripted' },
      readiness: async () => null,
      async *generate(request) {
        requests.push(request)
        const answer = answers.shift()
        for (const event of answer?.(request) ?? []) yield event
        yield { type: 'finished', reason: 'stop' }
      },
      close: async () => {},
    }
  }

  async #run(request: ActionRequest, { act }: HarnessOptions): Promise<ActionOutcome> {
    this.actions.push(request)
    request.onPhase({ phase: 'started', effect_id: `effect-${this.actions.length}` })
    const answer = (await act?.(request)) ?? {}
    return { outcome: 'succeeded', body: null, effect_id: 'effect', error_code: null, durationMs: 0, ...answer }
  }
}

/** An answer of the model with this text. */
export function speaks(text: string): ModelAnswer {
  return () => [{ type: 'text', delta: text }]
}

/** Position of the last audible sample at or after `from`; -1: none. */
export function lastAudible(audio: Int16Array, from: Samples = 0): Samples {
  for (let i = audio.length - 1; i >= from; i--) if (Math.abs(audio[i]!) > 300) return i
  return -1
}

/** Position and likeness of the best match for the first 40 ms of `sound` in `audio`, from `from` on. */
export function find(audio: Int16Array, sound: Int16Array, from: Samples = 0): { at: Samples; likeness: number } {
  let best = { at: -1, likeness: 0 }
  const probe = sound.subarray(0, msToSamples(40, NARROWBAND))
  for (let at = from; at + probe.length <= audio.length; at++) {
    let dot = 0
    let energy = 1
    let own = 1
    for (let i = 0; i < probe.length; i += 4) {
      dot += audio[at + i]! * probe[i]!
      energy += audio[at + i]! ** 2
      own += probe[i]! ** 2
    }
    const likeness = dot / Math.sqrt(energy * own)
    if (likeness > best.likeness) best = { at, likeness }
  }
  return best
}
