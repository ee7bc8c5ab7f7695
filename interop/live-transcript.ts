import { setTimeout as pause } from 'node:timers/promises'
import type { Ms, Samples } from '@parley/kernel'
import type { SpeechStream, SpeechToText } from '@parley/providers'

const LOOK_EVERY_MS: Ms = 100

/** Understands what a peer of another make hears, while it hears it. */
export class LiveTranscript {
  readonly #stream: SpeechStream
  readonly #heard: () => Int16Array
  readonly #finals: string[] = []
  #partial = ''
  #written: Samples = 0
  /** What is behind it has not been found yet. */
  #found = 0

  /** `heard`: everything so far, 8 kHz, from the beginning on. */
  constructor(recogniser: SpeechToText, heard: () => Int16Array) {
    this.#heard = heard
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

  /** Waits for words that were not found before. Throws when they have not come within `withinMs`. */
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

  /** Takes in what has come. */
  listen(): void {
    const audio = this.#heard().subarray(this.#written)
    this.#stream.write(audio, this.#written)
    this.#written += audio.length
  }
}
