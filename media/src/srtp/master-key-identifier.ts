/**
 * The master key identifier (RFC 3711 section 3.1) that a peer's packets carry when its `a=crypto` line has one (RFC 4568
 * section 6.1). It stands before what follows it in a packet: the tag of the HMAC suites; nothing under the AEAD suites
 * (RFC 7714 sections 8.2 and 9). It is not authenticated.
 */
export class MasterKeyIdentifier {
  readonly #value: Uint8Array

  constructor(value: Uint8Array) {
    this.#value = value
  }

  /**
   * Removes it from the packet in the first `length` bytes, of which the last `trailer` come after it. Returns the new
   * length; `length` itself, the packet being unchanged, when it is not there.
   */
  remove(packet: Uint8Array, length: number, trailer: number): number {
    const at = length - trailer - this.#value.length
    if (at < 0 || length > packet.length || !this.#isAt(packet, at)) return length
    packet.copyWithin(at, length - trailer, length)
    return length - this.#value.length
  }

  /** Undoes `remove`; takes the same arguments. */
  restore(packet: Uint8Array, length: number, trailer: number): void {
    const at = length - trailer - this.#value.length
    packet.copyWithin(length - trailer, at, at + trailer)
    packet.set(this.#value, at)
  }

  #isAt(packet: Uint8Array, at: number): boolean {
    for (let i = 0; i < this.#value.length; i++) if (packet[at + i] !== this.#value[i]) return false
    return true
  }
}
