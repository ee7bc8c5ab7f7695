import { type Inputs, loggedServices } from '@parley/conversation'
import type { AudioFormat } from '@parley/kernel'
import { ParleyError } from '@parley/kernel'
import type { CallLeg } from '@parley/leg'
import type { SpeechChunk, TextToSpeech } from '@parley/providers'
import { EngineError } from '../errors.ts'
import type { CallClock } from './call-clock.ts'
import { RepeatedSpeech } from './repeated-speech.ts'
import type { VoiceChoice } from './utterance-audio.ts'
import type { VoiceAgent } from './voice-agent.ts'

/** An agent whose models, actions, documents and voices answer through `inputs`. */
export function loggedAgent(agent: VoiceAgent, inputs: Inputs): VoiceAgent {
  const ledger = agent.ledger()
  const services = loggedServices(
    {
      models: agent.model,
      ...(agent.fallbackModels && { fallbackModels: agent.fallbackModels }),
      actions: agent.actions(ledger),
      knowledge: agent.knowledge,
      ledger,
      transferPolicy: agent.transferPolicy,
    },
    inputs,
  )
  const logged = (choice: VoiceChoice): VoiceChoice => ({ ...choice, voice: loggedVoice(choice.voice, inputs) })
  return {
    ...agent,
    voice: loggedVoice(agent.voice, inputs),
    ...(agent.fallbackVoices && { fallbackVoices: agent.fallbackVoices.map(logged) }),
    ...(agent.lastResort && { lastResort: logged(agent.lastResort) }),
    ...(services.fallbackModels && { fallbackModels: services.fallbackModels }),
    model: services.models,
    actions: () => services.actions,
    knowledge: services.knowledge,
    ledger: () => services.ledger,
    transferPolicy: services.transferPolicy,
  }
}

/** A chunk as a log has it: without its audio. */
interface StoredChunk {
  readonly samples: number
  readonly words: SpeechChunk['words']
}

function storedChunk({ samples, words }: SpeechChunk): StoredChunk {
  return { samples: samples.length, words }
}

/** Chunks of a voice; a replay gets their audio from the same request to the replay's voice. */
function chunksOf(speech: RepeatedSpeech) {
  return {
    encode: storedChunk,
    decode: (stored: unknown): SpeechChunk => {
      const { samples, words } = stored as StoredChunk
      return { samples: speech.take(samples), words }
    },
  }
}

function loggedVoice(voice: TextToSpeech, inputs: Inputs): TextToSpeech {
  const { id, languages, formats, writesPhonemes } = voice
  return {
    id,
    languages,
    ...(formats && { formats }),
    ...(writesPhonemes && { writesPhonemes }),
    readiness: language => voice.readiness(language),
    synthesize: (given, signal) => {
      const { onSent: _, ...request } = given
      const speech = new RepeatedSpeech(voice, request)
      const logged = {
        kind: 'voice',
        request: { id, ...request },
        codec: chunksOf(speech),
        prepare: () => speech.render(),
      }
      return inputs.stream(logged, () => voice.synthesize(given, signal))
    },
    ...(voice.warm && { warm: request => voice.warm?.(request) }),
    close: async () => {},
  }
}

/** Audio of prepared texts, which other calls may have made ready: whether it is there is an input. */
export function loggedAudio(
  audioOf: (text: string) => readonly SpeechChunk[] | undefined,
  inputs: Inputs,
): (text: string) => readonly SpeechChunk[] | undefined {
  return text => {
    let chunks: readonly SpeechChunk[] | undefined
    const stored = inputs.read<readonly StoredChunk[] | null>('prepared', () => {
      chunks = audioOf(text)
      return chunks?.map(storedChunk) ?? null
    })
    if (stored === null) return undefined
    // A replay has made the audio as well, unless its voice makes none.
    chunks ??= audioOf(text)
    return stored.map(({ samples, words }, at) => {
      const own = chunks?.[at]
      return { samples: own?.samples.length === samples ? own.samples : new Int16Array(samples), words }
    })
  }
}

/** What a conversation does with its leg. */
export type ConversationLeg = Pick<
  CallLeg,
  'format' | 'direction' | 'peerHost' | 'play' | 'flush' | 'played' | 'sendDigits' | 'transfer' | 'setBackground'
>

/**
 * The leg as a conversation sees it: what it reads is an input, and what it does a decision. `played` is what the leg acknowledged
 * last, so that it changes with inputs only.
 */
export class LoggedLeg implements ConversationLeg {
  readonly format: AudioFormat
  readonly direction: CallLeg['direction']
  readonly #leg: ConversationLeg
  readonly #inputs: Inputs
  #played: number

  constructor(leg: ConversationLeg, inputs: Inputs) {
    this.#leg = leg
    this.#inputs = inputs
    this.format = leg.format
    this.direction = leg.direction
    this.#played = inputs.read('played', () => leg.played())
  }

  get peerHost(): string | null {
    return this.#inputs.read('peer-host', () => this.#leg.peerHost)
  }

  /** The leg has reported this position. */
  acknowledge(position: number): void {
    this.#played = Math.max(this.#played, position)
  }

  play(audio: Int16Array): number {
    this.#inputs.sent(audio)
    return this.#leg.play(audio)
  }

  flush(): number {
    this.#inputs.decided(['flush'])
    this.#played = this.#inputs.read('flush', () => this.#leg.flush())
    return this.#played
  }

  played(): number {
    return this.#played
  }

  sendDigits(digits: string): void {
    this.#inputs.decided(['digits', digits])
    this.#leg.sendDigits(digits)
  }

  setBackground(...sound: Parameters<CallLeg['setBackground']>): void {
    this.#leg.setBackground(...sound)
  }

  transfer(...transfer: Parameters<CallLeg['transfer']>): void {
    this.#inputs.decided(['transfer'])
    const refusal = this.#inputs.read<string | null>('transfer', () => {
      try {
        this.#leg.transfer(...transfer)
        return null
      } catch (error) {
        if (!(error instanceof ParleyError)) throw error
        return error.message
      }
    })
    if (refusal !== null) throw new EngineError('transfer_refused', refusal)
  }
}

/** The origin of the call's clock moves with the audio, which is not logged. */
export function trackClock(clock: CallClock, inputs: Inputs): void {
  inputs.track({ read: () => clock.origin, restore: origin => clock.restore(origin) })
}
