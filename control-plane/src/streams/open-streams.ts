import { Refusal } from '@parley/contract'

/** How many runs can be followed at once. */
export interface StreamLimits {
  /** By one key. Default 50. */
  readonly perKey: number
  /** By all, of this process. Default 2000. */
  readonly all: number
}

export const STREAM_LIMITS: StreamLimits = { perKey: 50, all: 2000 }

/** Streams that are open, so that they are bounded and end with the server. */
export class OpenStreams {
  readonly #limits: StreamLimits
  readonly #byKey = new Map<string, number>()
  readonly #open = new Set<AbortController>()
  #isClosed = false

  constructor(limits: StreamLimits = STREAM_LIMITS) {
    this.#limits = limits
  }

  get size(): number {
    return this.#open.size
  }

  /**
   * Opens one. `signal` fires when it is to end; `release` gives its place back, and may be called twice. Throws
   * `rate_limited` (`streams`) where the key has too many, `provider_unavailable` where all have or the server closes.
   */
  open(keyId: string): { readonly signal: AbortSignal; readonly release: () => void } {
    const held = this.#byKey.get(keyId) ?? 0
    if (held >= this.#limits.perKey)
      throw new Refusal('rate_limited', `this key follows ${held} runs already: end one first, or poll the timeline`, {
        reason: 'streams',
        details: { limit: this.#limits.perKey, used: held },
      })
    if (this.#isClosed || this.#open.size >= this.#limits.all)
      throw new Refusal('provider_unavailable', 'too many runs are followed here: try again, or poll the timeline')
    const ending = new AbortController()
    this.#open.add(ending)
    this.#byKey.set(keyId, held + 1)
    return {
      signal: ending.signal,
      release: () => {
        if (!this.#open.delete(ending)) return
        ending.abort()
        const left = this.#byKey.get(keyId)! - 1
        if (left === 0) this.#byKey.delete(keyId)
        else this.#byKey.set(keyId, left)
      },
    }
  }

  /** All of them end, and no more are opened. */
  close(): void {
    this.#isClosed = true
    for (const ending of this.#open) ending.abort()
  }
}
