/** A least-recently-used cache of at most `maxBytes`. */
export class ByteBoundedCache<Value> {
  readonly #maxBytes: number
  readonly #entries = new Map<string, { readonly value: Value; readonly bytes: number }>()
  #total = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    // Moves the entry to the end of the map: entries are evicted from its beginning.
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    return entry.value
  }

  /** A value larger than the whole cache is not stored. */
  set(key: string, value: Value, bytes: number): void {
    if (bytes > this.#maxBytes) return
    this.#total += bytes - (this.#entries.get(key)?.bytes ?? 0)
    this.#entries.delete(key)
    this.#entries.set(key, { value, bytes })
    for (const [oldest, entry] of this.#entries) {
      if (this.#total <= this.#maxBytes) break
      this.#entries.delete(oldest)
      this.#total -= entry.bytes
    }
  }

  clear(): void {
    this.#entries.clear()
    this.#total = 0
  }
}
