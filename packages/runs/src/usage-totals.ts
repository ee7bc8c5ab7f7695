import type { Measurement } from '@parley/store'

/** What a run has used, summed by meter, provider and model. */
export class UsageTotals {
  readonly #sums = new Map<string, Measurement>()
  /** What `takeNew` has returned so far, in whole units. */
  readonly #taken = new Map<string, number>()

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

  /** What was added since the last call, in whole units; the sum of all calls is at most `measurements`. */
  takeNew(): readonly Measurement[] {
    const added: Measurement[] = []
    for (const [key, sum] of this.#sums) {
      const total = Math.ceil(sum.quantity)
      const quantity = total - (this.#taken.get(key) ?? 0)
      if (quantity > 0) added.push({ ...sum, quantity })
      this.#taken.set(key, total)
    }
    return added
  }
}
