import type { Ms } from '@parley/kernel'

/** Why an engine takes no new call. */
export type CapacityRefusal = 'draining' | 'overload'

/** The place of one call among those that an engine may have at once. */
export interface CallPlace {
  /** Frees the place for another call; a second time it does nothing. */
  release(): void
}

/** How late an engine is with something that live calls need; new calls are refused while it exceeds the limit. */
interface Lateness {
  readonly limitMs: Ms
  /** Of the last seconds. */
  readonly recentMs: () => Ms
}

/**
 * Counts the calls of an engine and decides whether it takes more. It is the only owner of capacity and drain. A call holds its
 * place from its INVITE, or from the claim of its run, to its end.
 */
export class CallCapacity {
  /** Calls at once. */
  readonly max: number
  readonly #lateness: readonly Lateness[]
  #taken = 0
  #isDraining = false

  /** `lateness`: what is judged, default nothing. */
  constructor(max: number, lateness: readonly Lateness[] = []) {
    this.max = max
    this.#lateness = lateness
  }

  /** Calls that are live or being set up. */
  get taken(): number {
    return this.#taken
  }

  /** New calls that may begin now; 0 in a drain, and while the engine is late. */
  get free(): number {
    return this.#isDraining || this.isLate ? 0 : this.max - this.#taken
  }

  get isDraining(): boolean {
    return this.#isDraining
  }

  /** Whether live calls are served so late that more calls would harm them. */
  get isLate(): boolean {
    return this.#lateness.some(({ limitMs, recentMs }) => recentMs() > limitMs)
  }

  /** Why no new call may begin now; null: one may. */
  get refusal(): CapacityRefusal | null {
    if (this.#isDraining) return 'draining'
    return this.#taken < this.max && !this.isLate ? null : 'overload'
  }

  /** Null: no place is free; `refusal` says why. */
  reserve(): CallPlace | null {
    if (this.refusal !== null) return null
    this.#taken++
    let isReleased = false
    return {
      release: () => {
        if (isReleased) return
        isReleased = true
        this.#taken--
      },
    }
  }

  /** No new places from now on. Calls that have one go on, also those that are still being set up. */
  drain(): void {
    this.#isDraining = true
  }
}
