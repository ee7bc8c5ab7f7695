import {
  Conversation,
  type ConversationEvent,
  DirectInputs,
  errorOf,
  failureOf,
  type Inputs,
  type SilenceStage,
  type StoredFailure,
  type TimelineFact,
  type UsageReport,
  type UserTurn,
} from '@parley/conversation'
import { type CallerTurn, type DialogueInput, type DialogueOutput, TurnMachine } from '@parley/dialogue'
import {
  type Machine,
  MachineDriver,
  type Ms,
  NARROWBAND,
  type ParleyError,
  type Random,
  type Samples,
  type Time,
  type Timer,
  type UnixMs,
} from '@parley/kernel'
import type { LegEvent } from '@parley/leg'
import type { CallControl, CallHandler, CallHandlerResult } from '../call-handler.ts'
import { CallTimeline } from '../call-timeline.ts'
import type { LocalEnding, MachineEnding } from '../outcome.ts'
import { playAmbientSound } from './ambient-sound.ts'
import { AnswerHandling } from './answer-handling.ts'
import { CallClock } from './call-clock.ts'
import { callLanguages } from './call-language.ts'
import { CallVoices } from './call-voices.ts'
import { dialogueOptions, silenceContractOf, turnSettings } from './dialogue-options.ts'
import { heardSince } from './heard-since.ts'
import { LastWords } from './last-words.ts'
import { LegRequests } from './leg-requests.ts'
import { type ConversationLeg, LoggedLeg, loggedAgent, trackClock } from './logged-call.ts'
import { meteredAgent } from './metered-agent.ts'
import { Playout } from './playout.ts'
import { agentOfCall } from './realtime-agent.ts'
import { refusalItem } from './refusal-items.ts'
import { lateVoiceItem, recogniserFailureItem, voiceFailureItem } from './service-failure-items.ts'
import { SpeechInput, type SpeechInputOptions } from './speech-input.ts'
import { SpeechOutput, type SpeechOutputListeners, type SpeechReport } from './speech-output.ts'
import { ToneListener } from './tone-listener.ts'
import { TurnLatencies } from './turn-latencies.ts'
import { languageOf, recognitionOf, type VoiceAgent, type VoiceCallFacts, warmServices } from './voice-agent.ts'

/** How long the greeting waits for the far end's first packet, which shows that its media is open. */
const FIRST_PACKET_WAIT_MS: Ms = 400
/** Longest wait for the next event of a model. */
const MODEL_EVENT_MS: Ms = 5000
/** Shares of the silence contract after which a model's first event and a voice's first audio are late. */
const MODEL_SHARE = 0.4
const VOICE_SHARE = 0.3
/** Wait between the last word and BYE, so that BYE does not overtake audio in the far end's jitter buffer. */
const LAST_WORD_MS: Ms = 200

/** What the turn machine still decides while the agent deals with a machine that answered. */
const WHILE_MACHINE: ReadonlySet<DialogueOutput['type']> = new Set([
  'turn',
  'aside',
  'unused-digits',
  'finalize',
  'max-duration',
])

/** Events of a leg that no part of a conversation uses. */
const UNUSED: ReadonlySet<LegEvent['type']> = new Set(['voice-start', 'voice-end', 'reoffered', 'reoffer-refused'])

interface RecogniserFailure {
  readonly failure: StoredFailure
  readonly isFatal: boolean
}

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
  readonly createSpeechInput?: (options: SpeechInputOptions) => SpeechInputPort
}

/** What a conversation requests of the caller's speech. */
type SpeechInputPort = Pick<SpeechInput, 'drain' | 'listenEarly' | 'answered' | 'finalize' | 'setLanguage' | 'close'>

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
  readonly #latencies = new TurnLatencies()
  readonly #timeline: CallTimeline
  readonly #driver: MachineDriver<DialogueInput, DialogueOutput>
  readonly #conversation: Conversation
  readonly #speechInput: SpeechInputPort
  readonly #voices: CallVoices
  readonly #speechOutput: SpeechOutput
  readonly #playout: Playout
  readonly #legRequests: LegRequests
  readonly #answer: AnswerHandling
  readonly #closeAgent: () => void
  #digits = ''
  /** Final words since the caller's last turn. */
  #turnWords = ''
  /** The language that the recogniser detected last, since the caller's last turn. */
  #detectedLanguage: string | null = null
  #connecting: Timer | null = null
  #hangUp: Timer | null = null
  #connected = false
  #hasEarlyMedia = false
  #answeredAt: Ms | null = null
  #callerHeard = false
  #stopped = false
  /** The conversation itself is ending the call. */
  #endsCall = false
  #lastWords: LastWords | null = null

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
    const { settings } = agent.plan
    this.#timeline = new CallTimeline({
      wallClock,
      clock: () => this.#now(),
      onItem: item => {
        inputs.happened(item)
        line.addTimelineItem(item)
      },
    })
    this.#driver = new MachineDriver(
      this.#drainingFirst(new TurnMachine(dialogueOptions(agent), random)),
      time,
      output => this.#onDialogue(output),
    )
    const ledger = agent.ledger()
    const languages = callLanguages(agent)
    const modelShare = agent.realtime === undefined ? MODEL_SHARE : MODEL_SHARE + VOICE_SHARE
    this.#conversation = new Conversation({
      plan: agent.plan,
      mode: { channel: 'phone', hasCaller: true },
      variables: {
        ...(facts.variables && { run: facts.variables }),
        ...(facts.context && { inbound_context: facts.context }),
      },
      call: facts.call,
      languages,
      models: agent.model,
      actions: agent.actions(ledger),
      knowledge: agent.knowledge,
      ledger,
      transferPolicy: agent.transferPolicy,
      time,
      wallClock,
      clock: () => this.#now(),
      onEvent: event => this.#onConversation(event),
      ...(onUsage !== undefined && { onUsage }),
      budgets: { eventMs: MODEL_EVENT_MS, lateAfterMs: Math.round(silenceContractOf(agent.plan) * modelShare) },
      ...(agent.fallbackModels && { fallbackModels: agent.fallbackModels }),
    })
    this.#answer = new AnswerHandling(
      {
        plan: agent.plan,
        direction: line.leg.direction,
        time,
        conversation: this.#conversation,
        prepare: text => this.#voices.prepareMessage(text),
        onContact: fact => this.#timeline.add(fact),
        end: (why, isAfterWords) => this.#endFor(why, isAfterWords),
      },
      machine => this.#drainingFirst(machine),
    )
    this.#playout = new Playout(this.#leg, settings.volume)
    const { format } = line.leg
    const lateAfterMs = silenceContractOf(agent.plan) * VOICE_SHARE
    this.#voices = new CallVoices({
      agent,
      preparing: { agent: metered, time: options.time },
      inputs,
      shared: options.agent.voice,
      language: languages[0]!,
      format,
      time,
      lateAfterMs,
      onFailure: failure => this.#timeline.add(voiceFailureItem(failure)),
      onLate: other => this.#timeline.add(lateVoiceItem(other, lateAfterMs)),
    })
    const listeners: SpeechOutputListeners = {
      onSpeaking: speaking => this.#driver.handle({ type: 'agent-speaking', speaking }),
      onPending: pending => this.#driver.handle({ type: 'agent-pending', pending }),
      onSound: on => this.#hear({ type: 'agent-sound', on }),
      onSpoken: (id, report) => this.#onSpoken(id, report),
      onAudible: (id, atSample) => this.#latencies.audible(id, this.#clock.timeOf(atSample)),
      onVoice: (id, step) => this.#onVoice(id, step),
      onFailure: () => this.#giveUp(),
    }
    this.#speechOutput = new SpeechOutput(this.#playout, this.#voices.speaking, listeners, this.#voices.holding)
    const ratio = format.sampleRateHz / NARROWBAND.sampleRateHz
    const tones = new ToneListener(
      position => this.#clock.timeOf(position * ratio),
      inputs.input('tone', tone => this.#answer.hear(tone)),
    )
    const onFailure = inputs.input('recogniser-failure', ({ failure, isFatal }: RecogniserFailure) =>
      this.#onRecogniserFailure(errorOf(failure), isFatal),
    )
    const createSpeechInput = options.createSpeechInput ?? (wanted => new SpeechInput(wanted))
    this.#speechInput = createSpeechInput({
      leg: line.leg,
      recognisers: [agent.recogniser, ...(agent.fallbackRecognisers ?? [])],
      speechBand: agent.speechBand,
      language: languageOf(agent),
      otherLanguages: languages.slice(1),
      onLanguage: inputs.input('language', (language: string) => {
        this.#detectedLanguage = language
      }),
      keywords: settings.boostedKeywords,
      recognition: recognitionOf(agent.plan),
      clock: this.#clock,
      time: options.time,
      onHeard: inputs.input('heard', input => this.#hear(input)),
      onAudio: (position, audio, count) => {
        if (this.#answer.isListening) tones.hear(position, audio, count)
      },
      isTone: () => tones.isSounding,
      onFailure: (error, isFatal) => onFailure({ failure: failureOf(error), isFatal }),
    })
    warmServices(metered, format)
    this.#legRequests = new LegRequests(this.#leg, time, agent.transfers, (id, answer, receipt) =>
      this.#conversation.legAnswered(id, answer, receipt),
    )
  }

  get result(): CallHandlerResult {
    return {
      utterances: this.#conversation.utterances,
      timeline: this.#timeline.items,
      digits: this.#digits,
      latencies: this.#latencies.all,
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
        this.#hasEarlyMedia = true
        return this.#speechInput.listenEarly()
      case 'answered':
        return this.#onAnswered()
      case 'first-packet':
        return this.#onFirstPacket(event.atSample)
      case 'digit':
        this.#digits += event.digit
        return this.#driver.handle({ type: 'digit', digit: event.digit })
      case 'play-progress':
        if (!this.#clock.isSet) this.#clock.observe(this.#options.time.now(), event.atSample)
        this.#lastWords?.onProgress(event)
        return this.#speechOutput.onProgress(event)
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

  stop(): void {
    if (this.#stopped) return
    if (this.#endsCall) this.#stop()
    else this.#enter.stop(null)
  }

  #stop(): void {
    this.#stopped = true
    this.#connecting?.cancel()
    this.#hangUp?.cancel()
    this.#answer.stop()
    this.#driver.handle({ type: 'ended' })
    this.#driver.stop()
    this.#legRequests.stop()
    this.#speechInput.close()
    // The cut reports what was heard so far; the conversation must get that before it stops.
    this.#speechOutput.cut()
    this.#lastWords?.cut()
    this.#conversation.stop()
    this.#closeAgent()
  }

  settled(): Promise<void> {
    return this.#conversation.settled()
  }

  /** Wraps a machine so that all audio received so far is processed before its timers fire. */
  #drainingFirst<Input, Output>(machine: Machine<Input, Output>): Machine<Input, Output> {
    return {
      handle: (now, input) => machine.handle(now, input),
      advance: now => {
        this.drain()
        machine.advance(now)
      },
      poll: () => machine.poll(),
      deadline: () => machine.deadline(),
    }
  }

  /** Offset of now on the call's clock; null before the first audio. */
  #now(): Ms | null {
    return this.#clock.offsetOf(this.#options.time.now())
  }

  #onAnswered(): void {
    const { time } = this.#options
    if (this.#hasEarlyMedia) this.drain()
    this.#answeredAt = time.now()
    this.#speechInput.answered()
    this.#answer.answered()
    this.#connecting = time.at(time.now() + FIRST_PACKET_WAIT_MS, () => this.#connect())
    if (this.#callerHeard) this.#connect()
  }

  /** The first packet of an inbound call may overtake the ACK; that of an outbound call may be early media. */
  #onFirstPacket(atSample: Samples): void {
    const { time } = this.#options
    this.#clock.observe(time.now(), atSample)
    this.#callerHeard = this.#leg.direction === 'inbound'
    this.#connect()
  }

  /** Starts the conversation: the far end was heard or the wait is over. Early media before the answer does not count. */
  #connect(): void {
    if (this.#connected || this.#connecting === null) return
    this.#connected = true
    this.#connecting.cancel()
    playAmbientSound(this.#leg, this.#options.agent.plan)
    const { channel } = this.#options.facts.call
    this.#timeline.add({ kind: 'state', state: 'running', phone_state: channel === 'phone' ? 'active' : null })
    this.#driver.handle({ type: 'connected' })
  }

  #hear(heard: DialogueInput): void {
    if (this.#hasEarlyMedia && this.#answeredAt === null) return this.#answer.hearDialogue(heard)
    const input = this.#hasEarlyMedia ? heardSince(this.#answeredAt!, heard) : heard
    if (input === null) return
    this.#answer.hearDialogue(input)
    this.#driver.handle(input)
    if (input.type === 'partial' || input.type === 'final') this.#hearWords(input.text, input.type === 'final')
  }

  /** Documents are searched for the words of the turn while the caller still speaks. */
  #hearWords(text: string, isFinal: boolean): void {
    const words = `${this.#turnWords} ${text}`.trim()
    if (isFinal) this.#turnWords = words
    this.#conversation.hearing(words)
  }

  #onDialogue(output: DialogueOutput): void {
    this.#inputs.decided(output)
    if (this.#answer.inCharge && !WHILE_MACHINE.has(output.type)) return
    switch (output.type) {
      case 'begin':
        return this.#conversation.start(output.opening === null ? null : this.#userTurn(output.opening))
      case 'turn':
        this.#latencies.turn(output.turn)
        this.#answer.turn(output.turn.text)
        this.#turnWords = ''
        return this.#conversation.userTurn(this.#userTurn(output.turn))
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
        return this.#conversation.aside(this.#userTurn(output.turn))
      case 'silence':
        return this.#conversation.silence(output.kind)
      case 'max-duration':
        return this.#answer.inCharge ? this.#end('max_duration') : this.#conversation.maxDuration()
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
      case 'duck':
        return this.#speechOutput.duck(output.on)
      case 'pause':
        return this.#speechOutput.pause()
      case 'resume':
        this.#speechOutput.resume()
        return this.#conversation.noteResumed()
      case 'cut':
        return this.#speechOutput.cut()
      case 'backchannel':
        return this.#speechOutput.interject(output.word)
    }
  }

  #onConversation(event: ConversationEvent): void {
    if ((this.#stopped || this.#lastWords !== null) && event.type !== 'fact') return
    switch (event.type) {
      case 'speech':
        return this.#speechOutput.begin(event.speech_id, { isHolding: event.isHolding })
      case 'speech-text':
        return this.#speechOutput.say(event.speech_id, event.delta)
      case 'speech-audio':
        return this.#speechOutput.play(event.speech_id, event.piece)
      case 'speech-end':
        return this.#speechOutput.end(event.speech_id)
      case 'speech-withdrawn':
        return this.#speechOutput.withdraw(event.speech_id)
      case 'settings':
        this.#speechOutput.setSpeed(event.settings.voice_speed)
        return this.#driver.handle({ type: 'settings', settings: turnSettings(event.settings) })
      case 'language':
        this.#speechInput.setLanguage(this.#voices.change(event.language))
        return this.#driver.handle({ type: 'language', language: event.language })
      case 'collect-digits': {
        const {
          question,
          answers,
          digit_limit: digitLimit,
          termination_key: terminationKey,
          timeout_ms: timeoutMs,
        } = event
        const rules = { question, answers, digitLimit, terminationKey, timeoutMs }
        return this.#driver.handle({ type: 'collect-digits', ...rules })
      }
      case 'question':
        return this.#driver.handle({ type: 'question', question: event.question })
      case 'await-opening':
        return this.#driver.handle({ type: 'await-opening', afterMs: event.after_ms })
      case 'leg-request':
        return this.#legRequests.start(event.request_id, event.request.type, event.request)
      case 'busy':
        return this.#driver.handle({ type: 'agent-busy', busy: event.busy, working: event.working })
      case 'fact':
        return this.#timeline.add(event.fact, event.offset_ms)
      case 'ended':
        return this.#onEnded(event)
    }
  }

  /** What the caller waits for while nothing is audible. */
  #waitingFor(): SilenceStage {
    if (this.#conversation.workingOn === 'action') return 'action'
    if (this.#speechOutput.isWaitingForVoice) return 'voice'
    return this.#conversation.workingOn ?? 'network'
  }

  #end(why: LocalEnding): void {
    this.#inputs.decided(['end', why])
    this.#endsCall = true
    try {
      this.#options.line.end(why)
    } finally {
      this.#endsCall = false
    }
  }

  #onEnded({ outcome, ended_by, code }: ConversationEvent & { type: 'ended' }): void {
    const { time } = this.#options
    const why = outcome === 'error' ? errorEnding(code) : outcome
    const mayHaveSaidFarewell = outcome === 'silence' || outcome === 'error'
    if (ended_by === 'system' && !mayHaveSaidFarewell) return this.#end(why)
    this.#hangUp = time.at(time.now() + LAST_WORD_MS, () => this.#end(why))
  }

  /** A machine answered. `isAfterWords`: the agent has just said something, which is to be heard. */
  #endFor(why: MachineEnding, isAfterWords: boolean): void {
    const { time } = this.#options
    if (!isAfterWords) return this.#end(why)
    this.#hangUp = time.at(time.now() + LAST_WORD_MS, () => this.#end(why))
  }

  #onVoice(speechId: string, step: 'asked' | 'answered'): void {
    const now = this.#options.time.now()
    if (step === 'asked') this.#latencies.voiceAsked(speechId, now, this.#conversation.spentSinceTurn())
    else this.#latencies.voiceAnswered(speechId, now)
  }

  #onSpoken(speechId: string, report: SpeechReport): void {
    const before = this.#conversation.utterances.length
    this.#conversation.spoken(speechId, report)
    this.#answer.spoken(report.interrupted)
    const latency = this.#latencies.take(speechId)
    const utterance = this.#conversation.utterances[before]
    if (latency !== null && utterance?.role === 'agent')
      this.#timeline.add({ kind: 'turn', index: utterance.index, latency })
  }

  #userTurn(turn: CallerTurn): UserTurn {
    const start_ms = this.#clock.offsetOf(turn.startMs)
    const end_ms = this.#clock.offsetOf(turn.endMs)
    const span = start_ms === null || end_ms === null ? null : { start_ms, end_ms }
    const language = this.#detectedLanguage
    this.#detectedLanguage = null
    return {
      text: turn.text,
      language,
      span,
      observed_ms: this.#clock.offsetOf(turn.observedMs),
      isUnfinished: turn.isUnfinished,
    }
  }

  #onRecogniserFailure(error: ParleyError, isFatal: boolean): void {
    if (this.#stopped) return
    this.#timeline.add(recogniserFailureItem(error, isFatal))
    if (isFatal) this.#giveUp()
  }

  /** Without a recogniser or voice the conversation cannot go on: an apology, if possible, and the end of the call. */
  #giveUp(): void {
    const { agent, time } = this.#options
    if (this.#stopped || this.#lastWords !== null) return
    this.#answer.stop()
    const end = () => this.#end('provider_failed')
    if (agent.lastResort === undefined) return end()
    this.#driver.stop()
    this.#speechInput.close()
    this.#speechOutput.cut()
    this.#conversation.stop()
    this.#closeAgent()
    this.#lastWords = new LastWords(this.#playout, agent.lastResort, time, end)
  }
}

function errorEnding(code: string | null): 'provider_failed' | 'internal' {
  return code === 'provider_failed' ? 'provider_failed' : 'internal'
}
