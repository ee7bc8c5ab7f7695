import { Refusal } from '@parley/contract'

/** Limits of concurrent event streams. */
export interface StreamLimits {
  /** Per API key. Default 50. */
  readonly perKey: number
  /** In this process. Default 2000. */
  readonly all: number
}

const STREAM_LIMITS: StreamLimits = { perKey: 50, all: 2000 }

/** Limits the number of open event streams and ends them when the server closes. */
export class StreamLimiter {
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
   * Opens a stream. `signal` fires when it must end; `release` frees its place and may be called twice. Throws
   * `rate_limited` (`streams`) at the limit of the key, `provider_unavailable` at the limit of the process or while the
   * server closes.
   */
  open(keyId: string): { readonly signal: AbortSignal; readonly release: () => void } {
    const used = this.#byKey.get(keyId) ?? 0
    if (used >= this.#limits.perKey)
      throw new Refusal(
        'rate_limited',
        `this key has ${used} event streams open: close one first, or poll GET /runs/{run_id}/timeline`,
        {
          reason: 'streams',
          details: { limit: this.#limits.perKey, used },
        },
      )
    if (this.#isClosed || this.#open.size >= this.#limits.all)
      throw new Refusal(
        'provider_unavailable',
        'this server has too many event streams open: try again, or poll GET /runs/{run_id}/timeline',
      )
    const ending = new AbortController()
    this.#open.add(ending)
    this.#byKey.set(keyId, used + 1)
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

  /** Ends all streams and refuses new ones. */
  close(): void {
    this.#isClosed = true
    for (const ending of this.#open) ending.abort()
  }
}
