import {
  Conversation,
  type ConversationEvent,
  DirectInputs,
  type Inputs,
  loggedSwap,
  type SilenceStage,
  type TimelineFact,
  type UsageReport,
} from '@parley/conversation'
import { type DialogueInput, type DialogueOutput, TurnMachine } from '@parley/dialogue'
import { MachineDriver, type Ms, type ParleyError, type Random, type Time, type UnixMs } from '@parley/kernel'
import type { LegEvent } from '@parley/leg'
import type { CallControl, CallHandler, CallHandlerResult, CarriedConversation } from '../call-handler.ts'
import { CallTimeline } from '../call-timeline.ts'
import { AgentSpeech } from './agent-speech.ts'
import { playAmbientSound } from './ambient-sound.ts'
import { AnswerHandling } from './answer-handling.ts'
import { CallClock } from './call-clock.ts'
import { CallEnding } from './call-ending.ts'
import { callLanguages } from './call-language.ts'
import { CallSetup } from './call-setup.ts'
import { type CreateSpeechInput, callSpeechInput, type SpeechInputPort } from './call-speech-input.ts'
import { conversationOptions } from './conversation-options.ts'
import { dialogueInput } from './dialogue-input.ts'
import { dialogueOptions } from './dialogue-options.ts'
import { drainingMachine } from './draining-machine.ts'
import { LegRequests } from './leg-requests.ts'
import { type ConversationLeg, LoggedLeg, loggedAgent, trackClock } from './logged-call.ts'
import { meteredAgent } from './metered-agent.ts'
import { agentOfCall } from './realtime-agent.ts'
import { RecognisedSpeech } from './recognised-speech.ts'
import { refusalItem } from './refusal-items.ts'
import { recogniserFailureItem } from './service-failure-items.ts'
import type { SpeechReport } from './speech-output.ts'
import { type VoiceAgent, type VoiceCallFacts, warmServices } from './voice-agent.ts'

/** Events of a leg that no part of a conversation uses. */
const UNUSED: ReadonlySet<LegEvent['type']> = new Set(['voice-start', 'voice-end', 'reoffered', 'reoffer-refused'])

interface VoiceConversationOptions {
  readonly agent: VoiceAgent
  readonly facts: VoiceCallFacts
  readonly line: CallControl
  readonly time: Time
  readonly wallClock: () => UnixMs
  readonly random: Random
  /** Called with usage of services as it becomes known; complete when `settled` resolves. */
  readonly onUsage?: (usage: UsageReport) => void
  /** Records or replays the conversation; it replaces `time`, `wallClock` and `random`. Default: neither. */
  readonly inputs?: Inputs
  /** The caller's speech; default that of the leg. */
  readonly createSpeechInput?: CreateSpeechInput
}

/**
 * An agent on a call. Connects speech input, speech output, the turn machine and the conversation: it passes events
 * between them and decides nothing itself.
 */
export class VoiceConversation implements CallHandler {
  readonly #options: VoiceConversationOptions
  readonly #inputs: Inputs
  readonly #leg: ConversationLeg
  readonly #enter: {
    readonly leg: (event: LegEvent) => void
    readonly variables: (values: Readonly<Record<string, string>>) => void
    readonly stop: (value: null) => void
  }
  readonly #clock: CallClock
  readonly #timeline: CallTimeline
  readonly #driver: MachineDriver<DialogueInput, DialogueOutput>
  readonly #conversation: Conversation
  readonly #speechInput: SpeechInputPort
  readonly #speech: AgentSpeech
  readonly #legRequests: LegRequests
  readonly #answer: AnswerHandling
  readonly #closeAgent: () => void
  #digits = ''
  readonly #recognised: RecognisedSpeech
  readonly #setup: CallSetup
  readonly #ending: CallEnding
  #stopped = false

  constructor(options: VoiceConversationOptions) {
    const { facts, line, onUsage } = options
    const inputs = options.inputs ?? new DirectInputs(options)
    const { time, wallClock, random } = inputs
    const ofCall = agentOfCall(options.agent)
    const metered = onUsage === undefined ? ofCall.agent : meteredAgent(ofCall.agent, onUsage)
    const isLogged = options.inputs !== undefined
    const agent = isLogged ? loggedAgent(metered, inputs) : metered
    this.#closeAgent = ofCall.close
    this.#options = { ...options, agent, time, wallClock, random }
    this.#inputs = inputs
    this.#clock = new CallClock(line.leg.format)
    trackClock(this.#clock, inputs)
    this.#recognised = new RecognisedSpeech(this.#clock)
    this.#ending = new CallEnding({ time, inputs, end: why => line.end(why) })
    const logged = isLogged ? new LoggedLeg(line.leg, inputs) : null
    this.#leg = logged ?? line.leg
    this.#enter = {
      leg: inputs.input('leg', (event: LegEvent) => {
        if (event.type === 'play-progress') logged?.acknowledge(event.position)
        this.#onLeg(event)
      }),
      variables: inputs.input('variables', values => this.#conversation.updateVariables(values)),
      stop: inputs.input('stop', () => this.#stop()),
    }
    this.#timeline = new CallTimeline({
      wallClock,
      clock: () => this.#now(),
      onItem: item => {
        inputs.happened(item)
        line.addTimelineItem(item)
      },
    })
    this.#driver = new MachineDriver(
      drainingMachine(new TurnMachine(dialogueOptions(agent), random), () => this.drain()),
      time,
      output => this.#onDialogue(output),
    )
    const languages = callLanguages(agent)
    this.#conversation = new Conversation({
      ...conversationOptions(agent, facts, languages),
      time,
      wallClock,
      clock: () => this.#now(),
      onEvent: event => this.#onConversation(event),
      ...(onUsage !== undefined && { onUsage }),
    })
    this.#answer = new AnswerHandling({
      plan: agent.plan,
      direction: line.leg.direction,
      time,
      conversation: this.#conversation,
      drain: () => this.drain(),
      prepare: text => this.#speech.voices.prepareMessage(text),
      onContact: fact => this.#timeline.add(fact),
      end: (why, isAfterWords) => (isAfterWords ? this.#ending.afterLastWord(why) : this.#ending.now(why)),
    })
    this.#speech = new AgentSpeech({
      agent,
      preparing: { agent: metered, time: options.time },
      inputs,
      shared: options.agent.voice,
      language: languages[0]!,
      time,
      leg: this.#leg,
      clock: this.#clock,
      spentSinceTurn: () => this.#conversation.spentSinceTurn(),
      listeners: {
        onSpeaking: speaking => this.#driver.handle({ type: 'agent-speaking', speaking }),
        onPending: pending => this.#driver.handle({ type: 'agent-pending', pending }),
        onSound: on => this.#hear({ type: 'agent-sound', on }),
        onSpoken: (id, report) => this.#onSpoken(id, report),
        onFailure: () => this.#giveUp(),
      },
      onFact: fact => this.#timeline.add(fact),
    })
    this.#speechInput = callSpeechInput({
      agent,
      leg: line.leg,
      clock: this.#clock,
      time: options.time,
      inputs,
      languages,
      create: options.createSpeechInput,
      onHeard: input => this.#hear(input),
      onLanguage: language => this.#recognised.detected(language),
      onTone: tone => this.#answer.hear(tone),
      listensForTones: () => this.#answer.isListening,
      onFailure: (error, isFatal) => this.#onRecogniserFailure(error, isFatal),
    })
    this.#setup = new CallSetup({
      direction: line.leg.direction,
      clock: this.#clock,
      time,
      onAnswered: () => {
        this.#speechInput.answered()
        this.#answer.answered()
      },
      onConnected: () => this.#onConnected(),
    })
    warmServices(metered, line.leg.format)
    this.#legRequests = new LegRequests({
      leg: this.#leg,
      time,
      transfers: agent.transfers,
      swap: loggedSwap(line.swapAgent, inputs),
      onAnswer: (id, answer, receipt) => this.#conversation.legAnswered(id, answer, receipt),
    })
  }

  get result(): CallHandlerResult {
    return {
      utterances: this.#conversation.utterances,
      timeline: this.#timeline.items,
      digits: this.#digits,
      latencies: this.#speech.latencies.all,
      preemptive: this.#conversation.preemptive,
    }
  }

  onLeg(event: LegEvent): void {
    if (!this.#stopped && !UNUSED.has(event.type)) this.#enter.leg(event)
  }

  #onLeg(event: LegEvent): void {
    this.#legRequests.onLeg(event)
    switch (event.type) {
      case 'ringing':
        if (!event.earlyMedia) return
        this.#setup.earlyMedia()
        return this.#speechInput.listenEarly()
      case 'answered':
        if (this.#setup.isEarlyMedia) this.drain()
        return this.#setup.answered()
      case 'first-packet':
        return this.#setup.firstPacket(event.atSample)
      case 'digit':
        this.#digits += event.digit
        return this.#driver.handle({ type: 'digit', digit: event.digit })
      case 'play-progress':
        if (!this.#clock.isSet) this.#clock.observe(this.#options.time.now(), event.atSample)
        return this.#speech.onProgress(event)
      case 'held':
      case 'resumed':
        return this.#timeline.add({ kind: 'hold', held: event.type === 'held' })
      case 'refer-refused':
      case 'redirected':
      case 'transfer-result':
        return this.#addRefusal(refusalItem(event))
      default:
        return
    }
  }

  #addRefusal(item: TimelineFact | null): void {
    if (item !== null) this.#timeline.add(item)
  }

  drain(): void {
    if (this.#stopped) return
    this.#inputs.inside('drain', () => this.#speechInput.drain())
  }

  updateVariables(values: Readonly<Record<string, string>>): void {
    this.#enter.variables(values)
  }

  variable(name: string): string | undefined {
    return this.#conversation.variable(name)
  }

  carriedOver(): CarriedConversation {
    return { history: this.#conversation.memory, variables: this.#conversation.variables }
  }

  stop(): void {
    if (this.#stopped) return
    if (this.#ending.isEnding) this.#stop()
    else this.#enter.stop(null)
  }

  #stop(): void {
    this.#stopped = true
    this.#setup.stop()
    this.#ending.stop()
    this.#answer.stop()
    this.#driver.handle({ type: 'ended' })
    this.#driver.stop()
    this.#legRequests.stop()
    this.#speechInput.close()
    // The cut reports what was heard so far; the conversation must get that before it stops.
    this.#speech.cut()
    this.#conversation.stop()
    this.#closeAgent()
  }

  settled(): Promise<void> {
    return this.#conversation.settled()
  }

  /** Offset of now on the call's clock; null before the first audio. */
  #now(): Ms | null {
    return this.#clock.offsetOf(this.#options.time.now())
  }

  #onConnected(): void {
    playAmbientSound(this.#leg, this.#options.agent.plan)
    const { channel } = this.#options.facts.call
    this.#timeline.add({ kind: 'state', state: 'running', phone_state: channel === 'phone' ? 'active' : null })
    this.#driver.handle({ type: 'connected' })
  }

  #hear(heard: DialogueInput): void {
    if (this.#setup.isEarlyMedia) return this.#answer.hearDialogue(heard)
    const input = this.#setup.sinceAnswer(heard)
    if (input === null) return
    this.#answer.hearDialogue(input)
    this.#driver.handle(input)
    if (input.type !== 'partial' && input.type !== 'final') return
    // Documents are searched for the words of the turn while the caller still speaks.
    this.#conversation.hearing(this.#recognised.heard(input.text, input.type === 'final'))
  }

  #onDialogue(output: DialogueOutput): void {
    this.#inputs.decided(output)
    if (!this.#answer.admits(output)) return
    switch (output.type) {
      case 'begin':
        return this.#conversation.start(output.opening === null ? null : this.#recognised.userTurn(output.opening))
      case 'turn':
        this.#speech.latencies.turn(output.turn)
        this.#answer.turn(output.turn.text)
        this.#recognised.turnEnded()
        return this.#conversation.userTurn(this.#recognised.userTurn(output.turn))
      case 'candidate':
        if (this.#options.agent.asksAhead !== false) this.#conversation.startPreemptiveGeneration(output.text)
        return
      case 'candidate-withdrawn':
        return this.#conversation.dropPreemptiveGeneration()
      case 'digits':
        return this.#conversation.digits(output.digits, this.#clock.offsetOf(output.atMs), output.question)
      case 'unused-digits':
        return this.#conversation.unusedDigits(output.digits, this.#clock.offsetOf(output.atMs))
      case 'turn-settled':
        return this.#conversation.turnSettled(output.settled)
      case 'turn-continued':
        return this.#conversation.turnContinued()
      case 'aside':
        return this.#conversation.aside(this.#recognised.userTurn(output.turn))
      case 'silence':
        return this.#conversation.silence(output.kind)
      case 'max-duration':
        return this.#answer.inCharge ? this.#ending.now('max_duration') : this.#conversation.maxDuration()
      case 'hold':
        return this.#conversation.hold()
      case 'nudge':
        return this.#conversation.nudge()
      case 'breach':
        return this.#timeline.add({
          kind: 'silence',
          stage: output.stage ?? this.#waitingFor(),
          duration_ms: Math.round(output.ms),
        })
      case 'finalize':
        return this.#inputs.inside('finalize', () => this.#speechInput.finalize())
      case 'resume':
        this.#speech.control(output)
        return this.#conversation.noteResumed()
      case 'duck':
      case 'pause':
      case 'cut':
      case 'backchannel':
        return this.#speech.control(output)
    }
  }

  #onConversation(event: ConversationEvent): void {
    if ((this.#stopped || this.#speech.isApologising) && event.type !== 'fact') return
    switch (event.type) {
      case 'speech':
      case 'speech-text':
      case 'speech-audio':
      case 'speech-end':
      case 'speech-withdrawn':
        return this.#speech.request(event)
      case 'settings':
        this.#speech.output.setSpeed(event.settings.voice_speed)
        return this.#driver.handle(dialogueInput(event))
      case 'language':
        this.#speechInput.setLanguage(this.#speech.voices.change(event.language))
        return this.#driver.handle(dialogueInput(event))
      case 'collect-digits':
      case 'question':
      case 'await-opening':
      case 'busy':
        return this.#driver.handle(dialogueInput(event))
      case 'leg-request':
        return this.#legRequests.start(event.request_id, event.request.type, event.request, event.effect_id)
      case 'fact':
        return this.#timeline.add(event.fact, event.offset_ms)
      case 'ended':
        return this.#ending.conversationEnded(event)
    }
  }

  /** What the caller waits for while nothing is audible. */
  #waitingFor(): SilenceStage {
    if (this.#conversation.workingOn === 'action') return 'action'
    if (this.#speech.output.isWaitingForVoice) return 'voice'
    return this.#conversation.workingOn ?? 'network'
  }

  #onSpoken(speechId: string, report: SpeechReport): void {
    const before = this.#conversation.utterances.length
    this.#conversation.spoken(speechId, report)
    this.#answer.spoken(report.interrupted)
    const latency = this.#speech.latencies.take(speechId)
    const utterance = this.#conversation.utterances[before]
    if (latency !== null && utterance?.role === 'agent')
      this.#timeline.add({ kind: 'turn', index: utterance.index, latency })
  }

  #onRecogniserFailure(error: ParleyError, isFatal: boolean): void {
    if (this.#stopped) return
    this.#timeline.add(recogniserFailureItem(error, isFatal))
    if (isFatal) this.#giveUp()
  }

  /** Without a recogniser or voice the conversation cannot go on: an apology, if possible, and the end of the call. */
  #giveUp(): void {
    const { agent } = this.#options
    if (this.#stopped || this.#speech.isApologising) return
    this.#answer.stop()
    const end = () => this.#ending.now('provider_failed')
    if (agent.lastResort === undefined) return end()
    this.#driver.stop()
    this.#speechInput.close()
    this.#speech.output.cut()
    this.#conversation.stop()
    this.#closeAgent()
    this.#speech.apologise(agent.lastResort, end)
  }
}
