import type { Ms, Time } from '@parley/kernel'
import type { Playout } from './playout.ts'
import { SpeechOutput } from './speech-output.ts'
import type { VoiceChoice } from './utterance-audio.ts'
import { Voices } from './voices.ts'

const TEXT: Readonly<Record<string, string>> = {
  en: 'I am sorry, there is a technical problem. Please call again later.',
  es: 'Lo siento, hay un problema técnico. Por favor, llame más tarde.',
}
const ID = 'last-words'
/** A far end that holds the call hears nothing of it, and nobody waits for that. */
const LONGEST_MS: Ms = 20_000

/** What a call says when its services are gone, by a voice that needs none; then it ends. */
export class LastWords {
  readonly #speechOutput: SpeechOutput

  /** `done` is called once: heard out, cut, not to be said, or not heard out within 20 s. */
  constructor(playout: Playout, choice: VoiceChoice, time: Time, done: () => void) {
    const longest = time.at(time.now() + LONGEST_MS, () => this.#speechOutput.cut())
    this.#speechOutput = new SpeechOutput(playout, new Voices([choice], time, () => {}), {
      onSpeaking: () => {},
      onAudible: () => {},
      onVoice: () => {},
      onSpoken: () => {
        longest.cancel()
        done()
      },
      onFailure: () => this.#speechOutput.cut(),
    })
    this.#speechOutput.begin(ID)
    this.#speechOutput.say(ID, TEXT[choice.language.split('-')[0]!] ?? TEXT.en!)
    this.#speechOutput.end(ID)
  }

  onProgress(event: Parameters<SpeechOutput['onProgress']>[0]): void {
    this.#speechOutput.onProgress(event)
  }

  cut(): void {
    this.#speechOutput.cut()
  }
}
