import type { Machine, Ms, Random } from '@parley/kernel'
import { AgentBackchannel, type Pause } from './agent-backchannel.ts'
import { BargeIn } from './barge-in.ts'
import { CallerVoice } from './caller-voice.ts'
import { Continuation } from './continuation.ts'
import { DigitCollection, isDigit } from './digit-collection.ts'
import { Endpointer, MAX_WAIT_MS } from './endpointing.ts'
import { HeardWords, wordsUntil } from './heard-words.ts'
import { InterjectionJudge } from './interjection.ts'
import { lexiconsOf } from './lexicon/lexicon.ts'
import { OpeningTimer } from './opening-timer.ts'
import { RECOGNISER_PATIENCE_MS } from './pending-words.ts'
import type {
  CallerTurn,
  DialogueInput,
  DialogueOptions,
  DialogueOutput,
  SpokenWord,
  TurnSettings,
} from './protocol.ts'
import { decidesYesOrNo, expectedAnswer } from './question/expected-answer.ts'
import { SilenceContract } from './silence-contract.ts'
import { SilenceTimers } from './silence-timers.ts'
import { TurnCollector } from './turn-collector.ts'

/** The end of a voice is known after its hang-over, both ends after the reading of the audio. What is known later was heard by a thread that was late. */
const LATE_EDGE_MS: Ms = 250

type Input<Type extends DialogueInput['type']> = Extract<DialogueInput, { type: Type }>

/**
 * Turn-taking of one call, without I/O. From voice activity, words, digits and the agent's state it decides when a turn of the
 * caller is over, when the agent is interrupted or resumes, and when a silence timer fires. Before `connected`
 * and after `silence` "limit" or `max-duration` it reports nothing but keys that answer no question.
 */
export class TurnMachine implements Machine<DialogueInput, DialogueOutput> {
  readonly #options: DialogueOptions
  readonly #outputs: DialogueOutput[] = []
  readonly #voice = new CallerVoice()
  readonly #words = new HeardWords()
  readonly #turns: TurnCollector
  readonly #endpointer: Endpointer
  readonly #continuation = new Continuation(report => this.#emit(report))
  readonly #judge: InterjectionJudge
  readonly #bargeIn: BargeIn
  readonly #openingTimer: OpeningTimer
  readonly #digits: DigitCollection
  readonly #silenceTimers: SilenceTimers
  readonly #contract: SilenceContract
  readonly #backchannel: AgentBackchannel
  #settings: TurnSettings
  /** The likeliest language of the caller first. */
  #languages: readonly string[]
  #connectedAt: Ms | null = null
  #isBusy = false
  /** The agent generates an answer or runs an action; has words that are not played; is audible. */
  #isWorking = false
  #hasWords = false
  #isSounding = false
  /** The question that is open; null: none in particular. */
  #question: number | null = null
  #isOver = false
  /** The call itself is over. */
  #isClosed = false
  #now: Ms = Number.NEGATIVE_INFINITY
  /** Inputs tell of what was a while ago, and more of it may wait: nothing is decided before `advance`, when all has been passed on. */
  #isBehind = false

  constructor(options: DialogueOptions, random: Random) {
    this.#options = options
    this.#settings = options.settings
    const lexicons = lexiconsOf(options.languages)
    this.#languages = options.languages
    const emit = (output: DialogueOutput) => this.#emit(output)
    this.#endpointer = new Endpointer(options.endpointing ?? { mode: 'adaptive' }, lexicons)
    this.#turns = new TurnCollector(this.#voice, this.#words, this.#endpointer, {
      turn: turn => this.#reportTurn(turn),
      finalize: () => emit({ type: 'finalize' }),
      unheard: ms => emit({ type: 'breach', stage: 'recogniser', ms }),
      candidate: text => {
        if (this.#openingTimer.hasBegun) emit({ type: 'candidate', text })
      },
      withdrawCandidate: () => emit({ type: 'candidate-withdrawn' }),
    })
    this.#judge = new InterjectionJudge(lexicons)
    const parts = { voice: this.#voice, words: this.#words, turns: this.#turns, judge: this.#judge }
    this.#bargeIn = new BargeIn(parts, emit)
    this.#openingTimer = new OpeningTimer(options, opening => {
      this.#silenceTimers.sound(this.#now)
      this.#contract.owe(this.#now)
      emit({ type: 'begin', opening })
    })
    this.#digits = new DigitCollection({
      complete: ({ digits, atMs, question }) => this.#digitsComplete(digits, atMs, question),
      unused: (digits, atMs) => emit({ type: 'unused-digits', digits, atMs }),
    })
    this.#silenceTimers = new SilenceTimers(options.endCallAfterSilenceMs, kind => {
      if (kind === 'limit') this.#digits.end()
      emit({ type: 'silence', kind })
      if (kind === 'limit') this.#isOver = true
    })
    this.#contract = new SilenceContract(options.silenceContractMs ?? Number.POSITIVE_INFINITY, {
      hold: () => emit({ type: 'hold' }),
      nudge: () => emit({ type: 'nudge' }),
      breach: ms => emit({ type: 'breach', stage: null, ms }),
    })
    this.#backchannel = new AgentBackchannel(this.#backchannelWords(), options.backchannel.frequency, random, word =>
      emit({ type: 'backchannel', word }),
    )
  }

  handle(now: Ms, input: DialogueInput): void {
    if (this.#isOver) return this.#handleAfterEnd(now, input)
    this.#now = now
    this.#apply(now, input)
    this.#isBehind ||= isLate(now, input)
    if (!this.#isBehind || input.type === 'ended') this.#settle(now)
  }

  /** Last words of the agent may follow the end, and keys that the caller presses meanwhile. */
  #handleAfterEnd(now: Ms, input: DialogueInput): void {
    if (input.type === 'ended') this.#isClosed = true
    if (input.type === 'digit' && isDigit(input.digit) && !this.#isClosed)
      this.#outputs.push({ type: 'unused-digits', digits: input.digit, atMs: now })
  }

  advance(now: Ms): void {
    if (this.#isOver) return
    this.#now = now
    this.#isBehind = false
    this.#settle(now)
  }

  poll(): DialogueOutput | undefined {
    return this.#outputs.shift()
  }

  deadline(): Ms | undefined {
    if (this.#isOver || this.#connectedAt === null) return undefined
    if (this.#isBehind) return this.#now
    let earliest = this.#connectedAt + this.#options.maxCallDurationMs
    const parts = [
      this.#bargeIn,
      this.#turns,
      this.#continuation,
      this.#contract,
      this.#openingTimer,
      this.#digits,
      this.#backchannel,
      this.#silenceTimers,
    ]
    for (const part of parts) earliest = Math.min(earliest, part.deadline() ?? earliest)
    earliest = Math.min(earliest, this.#voice.noiseDeadline(this.#now) ?? earliest)
    return earliest < Number.POSITIVE_INFINITY ? earliest : undefined
  }

  #apply(now: Ms, input: DialogueInput): void {
    switch (input.type) {
      case 'connected':
        this.#connect(now)
        break
      case 'settings':
        this.#settings = input.settings
        this.#checkInterruption(now)
        break
      case 'language':
        this.#setLanguage(input.language)
        break
      case 'voice-started':
        this.#voiceStarted(plausibleTime(now, input.startedAt))
        break
      case 'voice-stopped':
        this.#voiceStopped(plausibleTime(now, input.stoppedAt), input)
        break
      case 'partial':
      case 'final':
        this.#onWords(now, input, wordsUntil(now, input.words))
        break
      case 'unintelligible':
        this.#unintelligible(now, plausibleTime(now, input.startMs), plausibleTime(now, input.endMs))
        break
      case 'end-of-turn':
        this.#turns.endOfTurn(input.confidence, input.eager)
        break
      case 'turn-resumed':
        this.#turns.turnResumed()
        break
      case 'digit':
        this.#digit(now, input.digit)
        break
      case 'collect-digits':
        this.#collectDigits(input)
        break
      case 'question':
        this.#asked(input.question)
        break
      case 'ended':
        this.#digits.end()
        this.#isOver = true
        this.#isClosed = true
        break
      case 'await-opening':
        this.#silenceTimers.awaitOpening(now, input.afterMs)
        break
      case 'agent-speaking':
        this.#agentSpeaking(now, input.speaking)
        break
      case 'agent-busy':
        this.#silenceTimers.sound(now)
        this.#isBusy = input.busy
        this.#isWorking = input.working ?? input.busy
        break
      case 'agent-pending':
        this.#hasWords = input.pending
        break
      case 'agent-sound':
        this.#isSounding = input.on
        break
    }
  }

  #setLanguage(language: string): void {
    this.#languages = [language, ...this.#languages.filter(other => other !== language)]
    this.#endpointer.setLexicons(lexiconsOf(this.#languages))
    this.#backchannel.setWords(this.#backchannelWords())
  }

  #backchannelWords(): readonly string[] {
    const { words } = this.#options.backchannel
    return words.length > 0 ? words : lexiconsOf(this.#languages)[0]!.agentBackchannels
  }

  #connect(now: Ms): void {
    if (this.#connectedAt !== null) return
    this.#connectedAt = now
    this.#openingTimer.connect(now)
  }

  #voiceStarted(at: Ms): void {
    if (this.#voice.speaking) return
    this.#turns.voiceStarted(at)
    this.#voice.start(at)
    if (this.#turns.isAside) this.#voice.declareNoise()
  }

  #voiceStopped(at: Ms, { prosody }: Input<'voice-stopped'>): void {
    const { speaking, startedAt } = this.#voice
    this.#voice.stop(at, prosody ?? null)
    if (speaking) this.#turns.voiceStopped(at, Math.max(0, this.#voice.stoppedAt - startedAt))
    this.#silenceTimers.sound(at)
  }

  #onWords(now: Ms, input: Input<'partial'> | Input<'final'>, words: readonly SpokenWord[]): void {
    const isNew = input.type === 'partial' ? this.#words.addPartial(words) : this.#words.addFinal(words)
    if (input.type === 'partial') this.#turns.partial()
    else {
      this.#turns.final(now, words.at(-1)?.endMs ?? null, input.fromFinalize)
      const aside = this.#turns.takeLateAside(now)
      if (aside !== null) this.#emit({ type: 'aside', turn: aside })
    }
    if (isNew) {
      const unreported = this.#words.all
      this.#continuation.words(now, unreported[0]?.startMs ?? now, () => this.#judge.isCorrection(unreported))
      this.#voice.word(now)
      this.#silenceTimers.callerActed(now)
    }
    this.#checkInterruption(now)
  }

  /** New or revised words may interrupt the agent. */
  #checkInterruption(now: Ms): void {
    if (this.#connectedAt !== null) this.#bargeIn.onWords(now, this.#settings.interruptionSensitivity)
  }

  #unintelligible(now: Ms, startMs: Ms, endMs: Ms): void {
    this.#turns.unintelligible(startMs, endMs)
    if (this.#connectedAt === null) return
    this.#bargeIn.unintelligible(now, endMs - startMs, this.#settings.interruptionSensitivity)
    if (this.#bargeIn.holdsFloor) this.#turns.discardVoice()
  }

  #digit(now: Ms, digit: string): void {
    const isEntered = this.#digits.press(now, digit)
    this.#silenceTimers.callerActed(now)
    const { allowDtmfInterruption, interruptionSensitivity } = this.#settings
    const mayInterrupt = allowDtmfInterruption || (interruptionSensitivity > 0 && this.#digits.isAsked)
    if (isEntered && mayInterrupt && this.#connectedAt !== null) this.#bargeIn.digit()
  }

  #collectDigits({ question, digitLimit, terminationKey, timeoutMs, answers }: Input<'collect-digits'>): void {
    this.#question = question ?? null
    this.#digits.collect({ question: this.#question, digitLimit, terminationKey, timeoutMs, answers: answers ?? null })
  }

  /** Digits that answer the open question decide it: what the caller said meanwhile needs no answer. */
  #digitsComplete(digits: string, atMs: Ms, question: number | null): void {
    if (question !== null && question === this.#question && this.#openingTimer.hasBegun) {
      const turn = this.#turns.setAside(this.#now)
      if (turn !== null) this.#emit({ type: 'aside', turn })
    }
    this.#contract.owe(this.#now)
    this.#emit({ type: 'digits', digits, atMs, question })
  }

  /** Until the agent has been heard, the question says only whether a yes or no will answer it. */
  #asked(question: Input<'question'>['question']): void {
    this.#bargeIn.asks(question !== null && decidesYesOrNo(question, this.#languages))
    if (question?.agentWords === '') return
    this.#endpointer.expect(question === null ? null : expectedAnswer(question, this.#languages))
  }

  #agentSpeaking(now: Ms, speaking: boolean): void {
    this.#silenceTimers.sound(now)
    this.#bargeIn.agentSpeaking(now, speaking)
    if (!speaking) return
    this.#continuation.agentSpoke(now)
    this.#turns.agentSpoke(now)
    this.#checkInterruption(now)
  }

  #settle(now: Ms): void {
    if (this.#connectedAt === null) return
    if (now >= this.#connectedAt + this.#options.maxCallDurationMs) return this.#end()
    const { interruptionSensitivity, responsiveness } = this.#settings
    this.#bargeIn.settle(now, interruptionSensitivity)
    this.#turns.settle(now, responsiveness, this.#bargeIn.holdsFloor)
    const callerTalks = this.#voice.isTalking(now)
    this.#continuation.settle(now, callerTalks ? null : this.#voice.stoppedAt)
    const isPending = this.#turns.isPending && (callerTalks || this.#turns.quietSince(now) !== null)
    this.#openingTimer.settle(now, { isPending, silentSince: this.#voice.stoppedAt })
    const { hasBegun } = this.#openingTimer
    this.#digits.settle(now, this.#bargeIn.holdsFloor || !hasBegun)
    const agentWaits = hasBegun && !this.#bargeIn.holdsFloor && !this.#isBusy
    const mayAcknowledge = agentWaits && !this.#digits.isCollecting && this.#options.backchannel.enabled
    this.#backchannel.settle(now, mayAcknowledge ? this.#pause(now, responsiveness) : null)
    const callerIsHeard = this.#digits.isCollecting || isPending
    this.#silenceTimers.settle(now, { agentWaits, callerTalks, callerIsHeard }, this.#settings)
    this.#contract.settle(now, {
      isAudible: this.#isSounding || this.#bargeIn.isPaused,
      isWorking: this.#isWorking || this.#hasWords,
      callerTalks,
    })
  }

  /** A pause of the caller in the middle of a turn that has words. */
  #pause(now: Ms, responsiveness: number): Pause | null {
    if (this.#voice.speaking || this.#words.count === 0) return null
    const turnStartMs = this.#turns.startMs
    const decisionMs = this.#turns.decisionDueAt(now, responsiveness)
    if (turnStartMs === null || decisionMs === null) return null
    return { turnStartMs, since: this.#voice.stoppedAt, decisionMs }
  }

  #reportTurn(turn: CallerTurn): void {
    this.#silenceTimers.callerActed(this.#now)
    // A voice without words while the caller enters digits is no answer.
    if (turn.text === '' && this.#digits.isCollecting) return
    if (!this.#openingTimer.hasBegun) return this.#openingTimer.addTurn(turn)
    if (turn.endpointingMs > MAX_WAIT_MS) this.#emit({ type: 'breach', stage: 'endpointing', ms: turn.endpointingMs })
    if (turn.recogniserMs >= RECOGNISER_PATIENCE_MS)
      this.#emit({ type: 'breach', stage: 'recogniser', ms: turn.recogniserMs })
    this.#continuation.turn(this.#now, turn.isUnfinished)
    this.#contract.owe(this.#now)
    this.#emit({ type: 'turn', turn })
  }

  #end(): void {
    this.#bargeIn.end()
    this.#digits.end()
    this.#emit({ type: 'max-duration' })
    this.#isOver = true
  }

  #emit(output: DialogueOutput): void {
    if (!this.#isOver) this.#outputs.push(output)
  }
}

function plausibleTime(now: Ms, at: Ms): Ms {
  return Number.isFinite(at) ? Math.min(at, now) : now
}

/** Whether a voice edge is known later than a thread that is in time knows it. */
function isLate(now: Ms, input: DialogueInput): boolean {
  if (input.type === 'voice-started') return now - input.startedAt > LATE_EDGE_MS
  return input.type === 'voice-stopped' && now - input.stoppedAt > LATE_EDGE_MS
}
