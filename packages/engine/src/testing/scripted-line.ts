import { NARROWBAND, type Samples } from '@parley/kernel'
import type { LegEvent } from '@parley/leg'

/** Playout of a leg without a clock: what is queued leaves when the test says so, and is kept. */
export class ScriptedLine {
  readonly format = NARROWBAND
  readonly sent: number[] = []
  #queue: number[] = []
  #clock: Samples = 0

  play = (audio: Int16Array): Samples => {
    for (const sample of audio) this.#queue.push(sample)
    return this.sent.length + this.#queue.length
  }

  flush = (): Samples => {
    this.#queue = []
    return this.sent.length
  }

  played = (): Samples => this.sent.length

  /** Silence on the line moves its sample clock alone. */
  wait(samples: Samples): void {
    this.#clock += samples
  }

  /** Lets up to `samples` leave; returns the progress that a leg would report. */
  send(samples: Samples): LegEvent & { type: 'play-progress' } {
    const taken = this.#queue.splice(0, samples)
    for (const sample of taken) this.sent.push(sample)
    this.#clock += taken.length
    return {
      type: 'play-progress',
      position: this.sent.length,
      atSample: this.#clock,
      idle: taken.length === 0 && this.#queue.length === 0,
    }
  }
}
