import type { Ms, Time } from '@parley/kernel'
import type { SerialQueue } from './serial-queue.ts'
import type { SpeechQueue } from './speech-queue.ts'

/** Waits for the playback reports of withdrawn speeches, so that what was heard is recorded before what comes next. */
export class PlaybackReports {
  readonly #speeches: SpeechQueue
  readonly #queue: SerialQueue
  readonly #time: Time
  readonly #maxMs: Ms
  /** Ends the wait; null: nothing waits. */
  #finish: (() => void) | null = null

  /** `maxMs`: longest wait; a speech without a report by then counts as not heard. */
  constructor(speeches: SpeechQueue, queue: SerialQueue, time: Time, maxMs: Ms) {
    this.#speeches = speeches
    this.#queue = queue
    this.#time = time
    this.#maxMs = maxMs
  }

  /** Runs `task` when the withdrawn speeches are reported or the time limit is reached; the queue is paused until then. */
  whenComplete(task: () => void): void {
    if (!this.#speeches.hasWithdrawn) return task()
    const release = this.#queue.pause()
    const timer = this.#time.at(this.#time.now() + this.#maxMs, () => {
      this.#speeches.giveUp()
      this.#finish?.()
    })
    this.#finish = () => {
      this.#finish = null
      timer.cancel()
      release(task)
    }
  }

  /** A speech was reported. */
  reported(): void {
    if (!this.#speeches.hasWithdrawn) this.#finish?.()
  }
}
