import { setTimeout as pause } from 'node:timers/promises'
import type { Ms, Samples } from '@parley/kernel'
import type { SpeechStream, SpeechToText } from '@parley/providers'

const LOOK_EVERY_MS: Ms = 100

/** Recognises the audio that a peer receives, during the call. */
export class LiveTranscript {
  readonly #stream: SpeechStream
  readonly #received: (from: Samples) => Int16Array
  readonly #finals: string[] = []
  #partial = ''
  #written: Samples = 0
  /** Length of the text in which earlier patterns were found. */
  #found = 0

  /** `received`: returns the audio of the call from a sample on, 8 kHz. */
  constructor(recogniser: SpeechToText, received: (from: Samples) => Int16Array) {
    this.#received = received
    this.#stream = recogniser.open({ language: 'en' })
    this.#stream.onEvent(event => {
      if (event.type === 'partial') this.#partial = event.text
      if (event.type === 'final') {
        this.#finals.push(event.text)
        this.#partial = ''
      }
    })
  }

  /** All words so far. */
  get text(): string {
    return [...this.#finals, this.#partial].join(' ').trim()
  }

  /** Waits for `pattern` in the words after the last match. Throws when it has not matched within `withinMs`. */
  async untilHears(pattern: RegExp, withinMs: Ms = 40_000): Promise<void> {
    for (const until = performance.now() + withinMs; ; await pause(LOOK_EVERY_MS)) {
      this.listen()
      const match = pattern.exec(this.text.slice(this.#found))
      if (match !== null) {
        this.#found += match.index + match[0].length
        return
      }
      if (performance.now() > until) throw new Error(`${pattern} was not heard within ${withinMs} ms: "${this.text}"`)
    }
  }

  /** Writes new audio to the recogniser. */
  listen(): void {
    const audio = this.#received(this.#written)
    this.#stream.write(audio, this.#written)
    this.#written += audio.length
  }
}
