import { ParleyError } from '@parley/kernel'

/** Lets `places` through at a time, first come first served; those beyond `maxWaiting` are turned away. */
export class Semaphore {
  readonly #places: number
  readonly #maxWaiting: number
  readonly #waiting: (() => void)[] = []
  #inside = 0

  constructor(options: { readonly places: number; readonly maxWaiting: number }) {
    this.#places = options.places
    this.#maxWaiting = options.maxWaiting
  }

  /**
   * Resolves true with a place, which `leave` gives back, or false when `signal` aborted first. Throws `ParleyError`
   * "voice_busy" (retryable) when too many wait already.
   */
  async enter(signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return false
    if (this.#inside < this.#places) {
      this.#inside += 1
      return true
    }
    if (this.#waiting.length >= this.#maxWaiting) {
      throw new ParleyError('voice_busy', 'Too many utterances wait for this voice.', { retryable: true })
    }
    return new Promise(resolve => {
      const onTurn = () => {
        signal.removeEventListener('abort', onAbort)
        resolve(true)
      }
      const onAbort = () => {
        this.#waiting.splice(this.#waiting.indexOf(onTurn), 1)
        resolve(false)
      }
      signal.addEventListener('abort', onAbort, { once: true })
      this.#waiting.push(onTurn)
    })
  }

  leave(): void {
    // The place goes straight to the next in line, so that nobody can slip in between.
    const next = this.#waiting.shift()
    if (next === undefined) this.#inside -= 1
    else next()
  }
}
