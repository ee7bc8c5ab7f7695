import type { Measurement } from '@parley/store'

/** What a run has used, summed by meter, provider and model. */
export class UsageTotals {
  readonly #sums = new Map<string, Measurement>()

  /** `quantity`: whole or not, at least 0; anything else counts for nothing. */
  add(measurement: Measurement): void {
    const { meter, provider, model_id, quantity } = measurement
    if (!(quantity >= 0) || quantity === Number.POSITIVE_INFINITY) return
    const key = JSON.stringify([meter, provider, model_id])
    const before = this.#sums.get(key)?.quantity ?? 0
    this.#sums.set(key, { meter, provider, model_id, quantity: before + quantity })
  }

  /** In whole units, rounded up: what was begun was used. */
  get measurements(): readonly Measurement[] {
    return [...this.#sums.values()].map(sum => ({ ...sum, quantity: Math.ceil(sum.quantity) }))
  }
}
