import { NARROWBAND, type Samples } from '@parley/kernel'
import type { LegEvent } from '@parley/leg'

/** A leg's playout without a clock: queued audio is sent when the test calls `send`, and recorded in `sent`. */
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

  /** Advances the sample clock by silence. */
  wait(samples: Samples): void {
    this.#clock += samples
  }

  /** Sends up to `samples` of the queue; returns the progress event that a leg would emit. */
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
