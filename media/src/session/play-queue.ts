import { type Ms, msToSamples, type Samples } from '@parley/kernel'
import { MediaError } from '../errors.ts'
import type { SessionRings } from './session-rings.ts'

/** Maximum of queued audio: ten minutes. */
export const PLAY_QUEUE_MS: Ms = 600_000
/** Flushes that are remembered, in order to translate events that were in flight when they happened. */
const REMEMBERED_FLUSHES = 32

/**
 * The call owner's side of playout: audio that does not fit into the shared ring waits here. Playout positions count
 * samples queued and not dropped: after a flush they continue from what was really sent.
 */
export class PlayQueue {
  readonly #rings: SessionRings
  #waiting: Int16Array[] = []
  /** Samples of `#waiting[0]` already in the ring. */
  #started = 0
  #waitingSamples = 0
  /** Ring samples dropped by flushes. */
  #dropped = 0
  readonly #flushes: { readonly from: Samples; readonly to: Samples }[] = []

  constructor(rings: SessionRings) {
    this.#rings = rings
  }

  /** Returns the playout position at which `audio` ends. Throws `MediaError` "play_queue_full" beyond ten minutes. */
  play(audio: Int16Array): Samples {
    if (this.queued() + audio.length > msToSamples(PLAY_QUEUE_MS, this.#rings.format)) {
      throw new MediaError('play_queue_full', 'more than ten minutes of audio wait to be played')
    }
    // The caller may reuse its buffer, so waiting audio is copied.
    const taken = this.#waiting.length === 0 ? this.#rings.writeOutbound(audio, 0) : 0
    if (taken < audio.length) {
      this.#waiting.push(audio.slice(taken))
      this.#waitingSamples += audio.length - taken
    }
    return this.#rings.outboundWritten() + this.#waitingSamples - this.#dropped
  }

  /** Moves waiting audio into the ring as far as it has space. */
  refill(): void {
    while (this.#waiting.length > 0) {
      const chunk = this.#waiting[0]!
      const moved = this.#rings.writeOutbound(chunk, this.#started)
      this.#waitingSamples -= moved
      this.#started += moved
      if (this.#started < chunk.length) return
      this.#waiting.shift()
      this.#started = 0
    }
  }

  /** Drops queued audio; returns the playout position, after which nothing more will be sent. */
  flush(): Samples {
    this.#waiting = []
    this.#started = 0
    this.#waitingSamples = 0
    const from = this.#rings.dropOutbound()
    const to = this.#rings.outboundWritten()
    if (to > from) {
      this.#flushes.push({ from, to })
      if (this.#flushes.length > REMEMBERED_FLUSHES) this.#flushes.shift()
      this.#dropped += to - from
    }
    return to - this.#dropped
  }

  played(): Samples {
    return this.#rings.outboundTaken() - this.#dropped
  }

  queued(): Samples {
    return this.#rings.outboundWritten() - this.#rings.outboundTaken() + this.#waitingSamples
  }

  /** The playout position of a ring position that the media thread reported, before or after flushes. */
  positionOf(taken: Samples): Samples {
    let dropped = this.#dropped
    for (let i = this.#flushes.length - 1; i >= 0 && this.#flushes[i]!.to > taken; i--) {
      dropped -= this.#flushes[i]!.to - this.#flushes[i]!.from
    }
    return taken - dropped
  }
}
