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
/** Timeout: while the far end holds the call, the message is not played. */
const TIMEOUT_MS: Ms = 20_000

/** The apology before a call ends because its speech services failed, spoken by a local voice. */
export class LastWords {
  readonly #speechOutput: SpeechOutput

  /** `done` is called once: after the message was played, cut, could not be synthesised, or took more than 20 s. */
  constructor(playout: Playout, choice: VoiceChoice, time: Time, done: () => void) {
    const timeout = time.at(time.now() + TIMEOUT_MS, () => this.#speechOutput.cut())
    this.#speechOutput = new SpeechOutput(playout, new Voices([choice], playout.format, time, () => {}), {
      onSpeaking: () => {},
      onAudible: () => {},
      onVoice: () => {},
      onSpoken: () => {
        timeout.cancel()
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
