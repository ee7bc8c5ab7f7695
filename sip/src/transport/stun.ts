import { type Random, randomBelow } from '@parley/kernel'

/** Length of a header, RFC 8489 section 5. */
const HEADER_BYTES = 20
const BINDING_REQUEST = [0, 1]
const MAGIC_COOKIE = [0x21, 0x12, 0xa4, 0x42]
const TRANSACTION_BYTES = 12

/** A STUN binding request without attributes (RFC 8489 section 5), which keeps a path open (RFC 5626 section 4.4.2). */
export function stunBindingRequest(random: Random): Uint8Array {
  const id = Array.from({ length: TRANSACTION_BYTES }, () => randomBelow(random, 256))
  return Uint8Array.from([...BINDING_REQUEST, 0, 0, ...MAGIC_COOKIE, ...id])
}

/** Whether a datagram is STUN: its first two bits are 0, as in no SIP message. */
export function isStun(bytes: Uint8Array): boolean {
  return bytes.length >= HEADER_BYTES && bytes[0]! < 64 && MAGIC_COOKIE.every((byte, i) => bytes[4 + i] === byte)
}
