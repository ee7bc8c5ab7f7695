import type { Ms, UnixMs } from '@parley/kernel'
import type { TimelineFact, TimelineItem } from './timeline.ts'

/** Turns facts into timeline items: gapless sequence numbers from 1, wall-clock times and offsets on the run's clock. */
export class TimelineRecorder {
  readonly #wallClock: () => UnixMs
  readonly #clock: () => Ms | null
  #seq = 0

  /** `clock`: the offset on the run's clock; null before media and in text. */
  constructor(wallClock: () => UnixMs, clock: () => Ms | null) {
    this.#wallClock = wallClock
    this.#clock = clock
  }

  /** `offsetMs`: position on the run's clock; default now. */
  record(fact: TimelineFact, offsetMs: Ms | null = this.#clock()): TimelineItem {
    return { seq: ++this.#seq, at: new Date(this.#wallClock()).toISOString(), offset_ms: offsetMs, ...fact }
  }
}
