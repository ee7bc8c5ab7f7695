import type { Ms, ParleyError, Samples, Time, Timer } from '@parley/kernel'
import type { SpeechEvent, SpeechStream, SpeechToText } from '@parley/providers'
import { HeardTranscript } from './heard-transcript.ts'

/** How long the recogniser may take to deliver the last words after the call has ended. */
const LAST_WORDS_MS: Ms = 2000

/** Transcribes the received audio of one call. */
export class CallTranscriber {
  readonly transcript = new HeardTranscript()
  readonly #stream: SpeechStream
  readonly #time: Time
  readonly #onChange: () => void
  #failure: ParleyError | null = null
  /** Set when the call has ended: the timeout for the last words, and the callback for the end of the transcript. */
  #ending: { readonly timer: Timer; readonly onComplete: () => void } | null = null

  /** Throws what `recogniser.open` throws. `onChange`: the transcript changed, or the recogniser failed. */
  constructor(recogniser: SpeechToText, language: string, time: Time, onChange: () => void) {
    this.#time = time
    this.#onChange = onChange
    this.#stream = recogniser.open({ language, tellsVoice: true })
    this.#stream.onEvent(event => this.#note(event))
  }

  /** The error that ended recognition; null while it works. */
  get failure(): ParleyError | null {
    return this.#failure
  }

  /** Voice began or ended in the audio that is heard next. */
  noteVoice(type: 'voice-start' | 'voice-end', atSample: Samples): void {
    if (this.#failure === null) this.#stream.voice?.(type, atSample)
  }

  hear(audio: Int16Array, atSample: Samples): void {
    if (this.#failure === null) this.#stream.write(audio, atSample)
  }

  /** The call has ended. `onComplete` is called once the last words are transcribed, at the latest after 2 s. Call once. */
  end(onComplete: () => void): void {
    if (this.#failure !== null) return onComplete()
    const timer = this.#time.at(this.#time.now() + LAST_WORDS_MS, () => this.#close())
    this.#ending = { timer, onComplete }
    this.#stream.finalize()
  }

  #note(event: SpeechEvent): void {
    if (event.type !== 'error') this.transcript.note(event)
    else if (event.error.retryable) return
    else this.#failure = event.error
    const finalized = this.#ending !== null && event.type === 'final' && event.fromFinalize
    if (this.#failure !== null || finalized) this.#close()
    this.#onChange()
  }

  #close(): void {
    this.#stream.close()
    this.#ending?.timer.cancel()
    this.#ending?.onComplete()
    this.#ending = null
  }
}
