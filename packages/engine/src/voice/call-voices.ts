import { holdingLines, type Inputs } from '@parley/conversation'
import type { Language } from '@parley/flow'
import type { AudioFormat, Ms, Time } from '@parley/kernel'
import { tagOf } from './call-language.ts'
import { loggedAudio } from './logged-call.ts'
import { PreparedAudio } from './prepared-audio.ts'
import { sentencesOf } from './sentence-stream.ts'
import type { VoiceChoice } from './utterance-audio.ts'
import { languageOf, type VoiceAgent, voicesOf, withSpeechSettings } from './voice-agent.ts'
import { type VoiceFailure, Voices } from './voices.ts'

/** After this time without audio of a holding line the next voice is asked for it as well. */
const HOLDING_VOICE_MS: Ms = 150

export interface CallVoicesOptions {
  readonly agent: VoiceAgent
  /** Makes the audio of holding lines, beside the inputs of this call. */
  readonly preparing: { readonly agent: VoiceAgent; readonly time: Time }
  readonly inputs: Inputs
  /** Calls with the same object share the audio of holding lines. */
  readonly shared: object
  readonly language: Language
  readonly format: AudioFormat
  readonly time: Time
  /** A voice without audio after this time is late. */
  readonly lateAfterMs: Ms
  readonly onFailure: (failure: VoiceFailure) => void
  readonly onLate: (other: VoiceChoice) => void
}

/** The voices of a call in the language that is spoken now, and audio that is synthesised before it is needed. */
export class CallVoices {
  readonly #options: CallVoicesOptions
  readonly speaking: Voices
  /** For holding lines: they are spoken by a voice on this machine if no other answers. */
  readonly holding: Voices
  #message: PreparedAudio
  #lines: PreparedAudio

  constructor(options: CallVoicesOptions) {
    const { agent, language, format, time, lateAfterMs, onFailure, onLate } = options
    this.#options = options
    const own = voicesOf(agent)
    this.#message = this.#prepared(own, this)
    this.#lines = this.#preparedLines(undefined)
    this.speaking = new Voices(own, format, time, onFailure, {
      lateAfterMs,
      onLate,
      prepared: text => this.#message.audioOf(text),
    })
    this.holding = new Voices(this.#withRescue(own), format, time, () => {}, {
      lateAfterMs: HOLDING_VOICE_MS,
      prepared: loggedAudio(text => this.#lines.audioOf(text), options.inputs),
    })
    this.#prepareLines(language)
  }

  /** Synthesises a text that will be said soon. */
  prepareMessage(text: string): void {
    void this.#message.prepare(sentencesOf(text))
  }

  /** The agent speaks this language from its next sentence on. Returns the language as the voices and the recogniser take it. */
  change(language: Language): string {
    const { agent } = this.#options
    const tag = language === languageOf(agent).split('-')[0] ? languageOf(agent) : tagOf(agent, language)
    const own = voicesOf(agent, tag)
    this.speaking.change(own)
    this.holding.change(this.#withRescue(own))
    this.#message = this.#prepared(own, this)
    this.#lines = this.#preparedLines(tag)
    this.#prepareLines(language)
    return tag
  }

  #prepareLines(language: Language): void {
    const { agent, inputs } = this.#options
    if (agent.preparesHoldingLines !== false) inputs.hold(this.#lines.prepare(holdingLines(agent.plan, language)))
  }

  #preparedLines(language: string | undefined): PreparedAudio {
    const { format, preparing, shared } = this.#options
    return new PreparedAudio(voicesOf(preparing.agent, language)[0]!, format, preparing.time, shared)
  }

  #prepared([first]: readonly VoiceChoice[], shared: object): PreparedAudio {
    const { format, time } = this.#options
    return new PreparedAudio(first!, format, time, shared)
  }

  #withRescue(own: readonly VoiceChoice[]): readonly VoiceChoice[] {
    const { agent } = this.#options
    return agent.lastResort === undefined ? own : [...own, withSpeechSettings(agent.plan, agent.lastResort)]
  }
}
