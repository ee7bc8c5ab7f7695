/**
 * A map for entries that come and go by the thousand, such as calls: it keeps nothing of a deleted entry but its key.
 *
 * V8's own tables point to their successors, for iterators that are still on the way. A table that has reached the old
 * generation thus keeps alive, until the next full collection, every later one and all that was in any of them: each
 * collection of young objects then copies every call that has ended since. Here the table holds places, and the values are
 * in an array, where a deleted one leaves nothing behind.
 */
export class TransientMap<Key extends string | number, Value> {
  readonly #places = new Map<Key, number>()
  readonly #values: (Value | undefined)[] = []
  readonly #free: number[] = []

  get size(): number {
    return this.#places.size
  }

  get(key: Key): Value | undefined {
    const place = this.#places.get(key)
    return place === undefined ? undefined : this.#values[place]
  }

  set(key: Key, value: Value): void {
    const place = this.#places.get(key)
    if (place !== undefined) {
      this.#values[place] = value
      return
    }
    const taken = this.#free.pop() ?? this.#values.length
    this.#values[taken] = value
    this.#places.set(key, taken)
  }

  /** False: there was no such entry. */
  delete(key: Key): boolean {
    const place = this.#places.get(key)
    if (place === undefined) return false
    this.#places.delete(key)
    this.#values[place] = undefined
    this.#free.push(place)
    return true
  }

  clear(): void {
    this.#places.clear()
    this.#values.length = 0
    this.#free.length = 0
  }

  /** In the order in which their keys were added; entries may be added and deleted meanwhile, as in a `Map`. */
  *values(): Generator<Value> {
    for (const place of this.#places.values()) yield this.#values[place] as Value
  }
}
