import type { Ms, UnixMs } from '@parley/kernel'
import type { TimelineFact, TimelineItem } from './timeline.ts'

/** Puts facts in order: a sequence number from 1 without gaps, the time of day, the offset on the run's clock. */
export class TimelineRecorder {
  readonly #wallClock: () => UnixMs
  readonly #clock: () => Ms | null
  #seq = 0

  /** `clock`: the offset on the run's clock; null before media and in text. */
  constructor(wallClock: () => UnixMs, clock: () => Ms | null) {
    this.#wallClock = wallClock
    this.#clock = clock
  }

  /** `offsetMs`: where it lies on the run's clock; default now. */
  record(fact: TimelineFact, offsetMs: Ms | null = this.#clock()): TimelineItem {
    return { seq: ++this.#seq, at: new Date(this.#wallClock()).toISOString(), offset_ms: offsetMs, ...fact }
  }
}
