import { type TimelineFact, type TimelineItem, TimelineRecorder } from '@parley/conversation'
import type { Ms, UnixMs } from '@parley/kernel'

interface CallTimelineOptions {
  readonly wallClock: () => UnixMs
  /** Offset on the call's clock; null before media. */
  readonly clock: () => Ms | null
  readonly onItem: (item: TimelineItem) => void
}

/** The timeline of a call; each item is also passed to `onItem` as it is added. */
export class CallTimeline {
  readonly items: TimelineItem[] = []
  readonly #recorder: TimelineRecorder
  readonly #onItem: (item: TimelineItem) => void

  constructor({ wallClock, clock, onItem }: CallTimelineOptions) {
    this.#recorder = new TimelineRecorder(wallClock, clock)
    this.#onItem = onItem
  }

  /** `offsetMs`: position on the call's clock; default now. */
  add(fact: TimelineFact, offsetMs?: Ms): void {
    const item = this.#recorder.record(fact, offsetMs)
    this.items.push(item)
    this.#onItem(item)
  }
}
