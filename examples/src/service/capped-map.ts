/** A map of bounded size that drops its oldest entry. */
export class CappedMap<Key, Value> {
  readonly #entries = new Map<Key, Value>()
  readonly #most: number

  constructor(most: number) {
    this.#most = most
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key)
  }

  set(key: Key, value: Value): void {
    this.#entries.set(key, value)
    if (this.#entries.size <= this.#most) return
    for (const oldest of this.#entries.keys()) {
      this.#entries.delete(oldest)
      return
    }
  }

  values(): Value[] {
    return [...this.#entries.values()]
  }
}
