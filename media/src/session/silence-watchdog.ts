import type { Ms } from '@parley/kernel'

/** Long enough for a path that changes or a phone that is handed over, short of what carriers allow. */
const SILENT_AFTER_MS: Ms = 20_000

/**
 * Notices that a peer which should be sending has fallen silent on the wire. Only what is authentic counts as life, RTCP
 * too: a peer that sends nothing while nobody speaks still reports.
 */
export class SilenceWatchdog {
  #limitMs: Ms = SILENT_AFTER_MS
  #expecting = false
  #sinceMs: Ms = 0
  #silent = false

  /** `expecting`: the peer has a reason to send; a pause starts the count over. */
  apply(nowMs: Ms, expecting: boolean, limitMs: Ms = SILENT_AFTER_MS): void {
    this.#limitMs = limitMs
    if (expecting && !this.#expecting) this.#sinceMs = nowMs
    this.#expecting = expecting
  }

  /** Something authentic came. How long the silence was that was reported, or 0. */
  heard(nowMs: Ms): Ms {
    const silence = this.#silent ? nowMs - this.#sinceMs : 0
    this.#silent = false
    this.#sinceMs = nowMs
    return silence
  }

  /** How long it has been silent, once for each silence; 0 otherwise. */
  check(nowMs: Ms): Ms {
    if (!this.#expecting || this.#silent || nowMs - this.#sinceMs < this.#limitMs) return 0
    this.#silent = true
    return nowMs - this.#sinceMs
  }
}
