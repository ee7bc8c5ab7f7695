import type { Ms, ParleyError, Samples, Time, Timer } from '@parley/kernel'
import type { SpeechEvent, SpeechStream, SpeechToText } from '@parley/providers'
import { HeardTranscript } from './heard-transcript.ts'

/** So long a recogniser has for its last words once the call is over. */
const LAST_WORDS_MS: Ms = 2000

/** A recogniser that listens to one call, and what it wrote down. */
export class Ear {
  readonly transcript = new HeardTranscript()
  readonly #stream: SpeechStream
  readonly #time: Time
  readonly #onNews: () => void
  #failure: ParleyError | null = null
  /** Set once nothing more is heard: the timer of its patience, and whom to tell when it is over. */
  #ending: { readonly timer: Timer; readonly onOver: () => void } | null = null

  /** Throws what `recogniser.open` throws. `onNews`: something was understood, or nothing will be any more. */
  constructor(recogniser: SpeechToText, language: string, time: Time, onNews: () => void) {
    this.#time = time
    this.#onNews = onNews
    this.#stream = recogniser.open({ language })
    this.#stream.onEvent(event => this.#note(event))
  }

  /** Why it hears nothing any more, or null. */
  get failure(): ParleyError | null {
    return this.#failure
  }

  hear(audio: Int16Array, atSample: Samples): void {
    if (this.#failure === null) this.#stream.write(audio, atSample)
  }

  /** The call is over; `onOver` comes when what was said last is written down, at the latest after 2 s. Once. */
  end(onOver: () => void): void {
    if (this.#failure !== null) return onOver()
    const timer = this.#time.at(this.#time.now() + LAST_WORDS_MS, () => this.#close())
    this.#ending = { timer, onOver }
    this.#stream.finalize()
  }

  #note(event: SpeechEvent): void {
    if (event.type !== 'error') this.transcript.note(event)
    else if (event.error.retryable) return
    else this.#failure = event.error
    const answered = this.#ending !== null && event.type === 'final' && event.fromFinalize
    if (this.#failure !== null || answered) this.#close()
    this.#onNews()
  }

  #close(): void {
    this.#stream.close()
    this.#ending?.timer.cancel()
    this.#ending?.onOver()
    this.#ending = null
  }
}
