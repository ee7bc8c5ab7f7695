import { TransientMap } from './transient-map.ts'

/** A set for objects that come and go by the thousand: it keeps nothing of those that were removed. See `TransientMap`. */
export class TransientSet<Value> {
  readonly #members = new TransientMap<number, Value>()
  #next = 0

  get size(): number {
    return this.#members.size
  }

  /** Adds a member, also when the same one is there already; returns the function that removes it. */
  add(value: Value): () => void {
    const member = this.#next++
    this.#members.set(member, value)
    return () => this.#members.delete(member)
  }

  /** In the order in which they were added; members may be added and removed meanwhile, as in a `Set`. */
  [Symbol.iterator](): Generator<Value> {
    return this.#members.values()
  }
}
