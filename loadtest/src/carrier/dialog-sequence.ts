/**
 * CSeq numbers of our side of a dialog in which the user agent and the tap both send requests: each request gets the next number when it is first sent, and
 * its retransmissions keep it (RFC 3261 section 12.2.1.1).
 */
export class DialogSequence {
  /** The user agent's numbers up to this one were sent unchanged. */
  readonly #base: number
  #last: number
  /** By the user agent's number. */
  readonly #wire = new Map<number, number>()

  /** `last`: the newest number that the user agent used. */
  constructor(last: number) {
    this.#base = last
    this.#last = last
  }

  /** The number for a request that the user agent did not send. */
  next(): number {
    return ++this.#last
  }

  /** On the wire, the number that the user agent gave a request; an ACK has that of its INVITE. */
  toWire(own: number): number {
    if (own <= this.#base) return own
    const known = this.#wire.get(own)
    if (known !== undefined) return known
    this.#last = Math.max(own, this.#last + 1)
    this.#wire.set(own, this.#last)
    return this.#last
  }

  fromWire(wire: number): number {
    for (const [own, number] of this.#wire) if (number === wire) return own
    return wire
  }
}
