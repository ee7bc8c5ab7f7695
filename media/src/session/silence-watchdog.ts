import type { Ms } from '@parley/kernel'
import { wordsClass } from '../page/words.ts'

/** Long enough for a change of the network path or a handover, shorter than carriers' timeouts. */
const SILENT_AFTER_MS: Ms = 20_000
/** A peer that pauses while nobody speaks may listen to one long answer without sending anything. */
const PAUSING_FACTOR = 6

export const WatchdogWords = wordsClass('expecting', 'limitMs', 'sinceMs', 'silent')

/**
 * Detects that a peer which should be sending has stopped. Only packets of the peer count, RTCP too: a peer that sends no
 * audio while nobody speaks still sends reports.
 */
export class SilenceWatchdog {
  readonly #state: InstanceType<typeof WatchdogWords>
  #pausing = false

  constructor(memory?: Float64Array) {
    this.#state = new WatchdogWords(memory)
    this.#state.limitMs = SILENT_AFTER_MS
  }

  /** `expecting`: the peer has a reason to send; a pause restarts the count. `limitMs` 0: never silent. */
  apply(nowMs: Ms, expecting: boolean, limitMs: Ms = SILENT_AFTER_MS): void {
    this.#state.limitMs = limitMs
    if (expecting && this.#state.expecting === 0) this.#state.sinceMs = nowMs
    this.#state.expecting = expecting ? 1 : 0
  }

  /** The peer sends discontinuously (comfort noise, or gaps between talk spurts; RFC 3551 section 4.1). */
  expectPauses(): void {
    this.#pausing = true
  }

  /** A packet of the peer arrived. Returns the length of the silence that was reported, or 0. */
  heard(nowMs: Ms): Ms {
    const silence = this.#state.silent !== 0 ? nowMs - this.#state.sinceMs : 0
    this.#state.silent = 0
    this.#state.sinceMs = nowMs
    return silence
  }

  /** Length of the silence, once for each silence; 0 otherwise. */
  check(nowMs: Ms): Ms {
    if (this.#state.expecting === 0 || this.#state.silent !== 0 || this.#state.limitMs === 0) return 0
    if (nowMs - this.#state.sinceMs < this.#state.limitMs * (this.#pausing ? PAUSING_FACTOR : 1)) return 0
    this.#state.silent = 1
    return nowMs - this.#state.sinceMs
  }
}
