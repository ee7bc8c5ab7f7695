/**
 * A map of bounded size: the `capacity` entries that were used last are always present, older ones may be gone, and at most
 * twice as many are stored. Entries are forgotten a generation at a time. Deleting the first key of a `Map` instead would
 * walk over the gaps of all keys that were deleted before it, 8 to 150 us for each new key of a flood.
 */
export class RecentMap<Key, Value> {
  readonly #capacity: number
  #young = new Map<Key, Value>()
  #old = new Map<Key, Value>()

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  get size(): number {
    return this.#young.size + this.#old.size
  }

  /** Counts as a use. */
  get(key: Key): Value | undefined {
    const young = this.#young.get(key)
    if (young !== undefined) return young
    const old = this.#old.get(key)
    if (old !== undefined) this.set(key, old)
    return old
  }

  set(key: Key, value: Value): void {
    this.#old.delete(key)
    this.#young.set(key, value)
    if (this.#young.size < this.#capacity) return
    this.#old = this.#young
    this.#young = new Map()
  }

  /** False: there was no such entry. */
  delete(key: Key): boolean {
    return this.#young.delete(key) || this.#old.delete(key)
  }
}
