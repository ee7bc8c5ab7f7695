import type { AnswerInput } from '@parley/dialogue'
import type { Ms, Samples } from '@parley/kernel'
import { CallTones } from '@parley/media'

/** Finds tones in heard audio of 8 kHz, and reports them on the clock of the process. */
export class ToneListener {
  readonly #tones = new CallTones()
  readonly #timeOf: (narrowband: Samples) => Ms
  readonly #onTone: (input: AnswerInput) => void

  /** A tone is audible in the audio heard last. */
  isSounding = false

  /** `timeOf`: the time of a position in audio of 8 kHz. */
  constructor(timeOf: (narrowband: Samples) => Ms, onTone: (input: AnswerInput) => void) {
    this.#timeOf = timeOf
    this.#onTone = onTone
  }

  hear(position: Samples, audio: Int16Array, count: Samples): void {
    const tones = this.#tones
    tones.push(position, audio, 0, count)
    for (let type = tones.take(); type !== null; type = tones.take()) {
      this.isSounding = type !== 'tone-ended'
      const at = this.#timeOf(tones.position)
      if (type === 'tone-ended') this.#onTone({ type, at, isIsolated: tones.isIsolated, isPure: tones.isPure })
      else this.#onTone({ type: 'tone-started', tone: type === 'tone-started' ? 'tone' : type, hz: tones.hz, at })
    }
  }
}
