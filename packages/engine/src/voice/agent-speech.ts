import type { Conversation, ConversationEvent, TimelineFact } from '@parley/conversation'
import type { DialogueOutput } from '@parley/dialogue'
import type { Time } from '@parley/kernel'
import type { LegEvent } from '@parley/leg'
import type { CallClock } from './call-clock.ts'
import { CallVoices, type CallVoicesOptions } from './call-voices.ts'
import { LastWords } from './last-words.ts'
import type { ConversationLeg } from './logged-call.ts'
import { Playout } from './playout.ts'
import { lateVoiceItem, voiceFailureItem } from './service-failure-items.ts'
import { voiceLateAfterMs } from './silence-budgets.ts'
import { SpeechOutput, type SpeechOutputListeners } from './speech-output.ts'
import { TurnLatencies } from './turn-latencies.ts'
import type { VoiceChoice } from './utterance-audio.ts'

type SpeechEvent = Extract<
  ConversationEvent,
  { type: 'speech' | 'speech-text' | 'speech-audio' | 'speech-end' | 'speech-withdrawn' }
>
type SpeechControl = Extract<DialogueOutput, { type: 'duck' | 'pause' | 'resume' | 'cut' | 'backchannel' }>

interface AgentSpeechOptions
  extends Pick<CallVoicesOptions, 'agent' | 'preparing' | 'inputs' | 'shared' | 'language' | 'time'> {
  readonly leg: ConversationLeg
  readonly clock: CallClock
  readonly spentSinceTurn: Conversation['spentSinceTurn']
  readonly listeners: Omit<SpeechOutputListeners, 'onAudible' | 'onVoice'>
  readonly onFact: (fact: TimelineFact) => void
}

/** What the caller hears of the agent: its voices, their playout, the latency of its answers, and the apology when they fail. */
export class AgentSpeech {
  readonly #time: Time
  readonly #spentSinceTurn: AgentSpeechOptions['spentSinceTurn']
  readonly #playout: Playout
  readonly voices: CallVoices
  readonly output: SpeechOutput
  readonly latencies = new TurnLatencies()
  #lastWords: LastWords | null = null

  constructor(options: AgentSpeechOptions) {
    const { agent, preparing, inputs, shared, language, time, leg, clock, onFact } = options
    this.#time = time
    this.#spentSinceTurn = options.spentSinceTurn
    this.#playout = new Playout(leg, agent.plan.settings.volume)
    const lateAfterMs = voiceLateAfterMs(agent)
    this.voices = new CallVoices({
      agent,
      preparing,
      inputs,
      shared,
      language,
      time,
      format: leg.format,
      lateAfterMs,
      onFailure: failure => onFact(voiceFailureItem(failure)),
      onLate: other => onFact(lateVoiceItem(other, lateAfterMs)),
    })
    const listeners: SpeechOutputListeners = {
      ...options.listeners,
      onAudible: (id, atSample) => this.latencies.audible(id, clock.timeOf(atSample)),
      onVoice: (id, step) => this.#onVoice(id, step),
    }
    this.output = new SpeechOutput(this.#playout, this.voices.speaking, listeners, this.voices.holding)
  }

  /** The agent says its last words, and no other speech is wanted. */
  get isApologising(): boolean {
    return this.#lastWords !== null
  }

  /** The conversation requests a speech, goes on with it or withdraws it. */
  request(event: SpeechEvent): void {
    switch (event.type) {
      case 'speech':
        return this.output.begin(event.speech_id, { isHolding: event.isHolding })
      case 'speech-text':
        return this.output.say(event.speech_id, event.delta)
      case 'speech-audio':
        return this.output.play(event.speech_id, event.piece)
      case 'speech-end':
        return this.output.end(event.speech_id)
      case 'speech-withdrawn':
        return this.output.withdraw(event.speech_id)
    }
  }

  /** The turn machine reacts to the caller's voice. */
  control(output: SpeechControl): void {
    switch (output.type) {
      case 'duck':
        return this.output.duck(output.on)
      case 'pause':
        return this.output.pause()
      case 'resume':
        return this.output.resume()
      case 'cut':
        return this.output.cut()
      case 'backchannel':
        return this.output.interject(output.word)
    }
  }

  onProgress(event: LegEvent & { type: 'play-progress' }): void {
    this.#lastWords?.onProgress(event)
    this.output.onProgress(event)
  }

  /** The speech services have failed: a local voice apologises. `done` is called once, when that is over. */
  apologise(choice: VoiceChoice, done: () => void): void {
    this.#lastWords = new LastWords(this.#playout, choice, this.#time, done)
  }

  /** Cuts everything; reports what was heard so far. */
  cut(): void {
    this.output.cut()
    this.#lastWords?.cut()
  }

  #onVoice(speechId: string, step: 'asked' | 'answered'): void {
    const now = this.#time.now()
    if (step === 'asked') this.latencies.voiceAsked(speechId, now, this.#spentSinceTurn())
    else this.latencies.voiceAnswered(speechId, now)
  }
}
