import type { Ms } from '@parley/kernel'
import type { MediaEvent, MediaSession } from '@parley/media'

/** Time without packets after which the far end's media counts as stopped. */
export const MEDIA_SILENCE_MS: Ms = 1000

interface MediaWatchOptions {
  readonly session: MediaSession
  readonly tone: boolean
  readonly now: () => Ms
  /** Packets arrive for the first time or again; `packet`: number of the packet. */
  readonly first: (atMs: Ms, packet: number) => void
  /** No packet arrived for a second, or the call ended; `packets`: their number. Follows every `first`. */
  readonly last: (atMs: Ms, packets: number) => void
}

/** One call's media at the carrier: plays audio, and records when the far end's packets begin and stop. */
export class MediaWatch {
  readonly #options: MediaWatchOptions
  #coming = false
  /** Time of the last reported silence. */
  #packets = 0

  constructor(options: MediaWatchOptions) {
    this.#options = options
    options.session.onEvent(event => this.#onEvent(event))
  }

  /** The session is negotiated: starts to send the tone, or silence. */
  play(): void {
    if (!this.#options.tone) return
    for (let seconds = 0; seconds < 2; seconds++) this.#options.session.play(TONE)
  }

  async close(): Promise<void> {
    const endedAt = this.#options.now()
    const { statistics } = await this.#options.session.close()
    if (this.#coming) this.#options.last(endedAt, statistics.packetsReceived)
    this.#coming = false
  }

  #onEvent(event: MediaEvent): void {
    const { session, now, first } = this.#options
    if (event.type === 'first-packet' && !this.#coming) {
      this.#coming = true
      first(now(), 1)
    } else if (event.type === 'silent-remote') {
      void this.#count(now() - event.forMs, false)
    } else if (event.type === 'remote-back') {
      void this.#count(now(), true)
    } else if (event.type === 'play-progress' && this.#options.tone && session.queued() < TONE.length) {
      session.play(TONE)
    }
  }

  /** Unlike the session, this counts only packets of audio, not RTCP, as a sign of life. */
  async #count(atMs: Ms, back: boolean): Promise<void> {
    let packets: number
    try {
      packets = (await this.#options.session.statistics()).packetsReceived
    } catch {
      // The session was closed meanwhile; its report has the same numbers.
      return
    }
    if (back && !this.#coming && packets > this.#packets) {
      this.#coming = true
      this.#options.first(atMs, this.#packets + 1)
    } else if (!back && this.#coming) {
      this.#coming = false
      this.#packets = packets
      this.#options.last(atMs, packets)
    }
  }
}

/** One second of 440 Hz: whole periods, so that it repeats without a click. */
const TONE = Int16Array.from({ length: 8000 }, (_, index) => 8000 * Math.sin((2 * Math.PI * 440 * index) / 8000))
