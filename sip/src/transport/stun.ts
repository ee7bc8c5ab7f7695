import { type Random, randomBelow } from '@parley/kernel'

/** Length of a header, RFC 8489 section 5. */
const HEADER_BYTES = 20
const BINDING_REQUEST = [0, 1]
const BINDING_SUCCESS = 0x0101
const BINDING_ERROR = 0x0111
const MAGIC_COOKIE = [0x21, 0x12, 0xa4, 0x42]
const ID_OFFSET = 8
const TRANSACTION_BYTES = HEADER_BYTES - ID_OFFSET
const XOR_MAPPED_ADDRESS = 0x0020
/** Family byte, and length of the address that follows it and the port. */
const ADDRESS_BYTES: Readonly<Record<number, number>> = { 1: 4, 2: 16 }

/** What a server answered to a binding request. */
type BindingAnswer =
  /** `mapped`: address and port from which the request came, in hexadecimal; null: it did not say. */
  { readonly type: 'success'; readonly mapped: string | null } | { readonly type: 'error' }

/** A STUN binding request without attributes (RFC 8489 section 5), which keeps a path open (RFC 5626 section 4.4.2). */
export function stunBindingRequest(random: Random): Uint8Array {
  const id = Array.from({ length: TRANSACTION_BYTES }, () => randomBelow(random, 256))
  return Uint8Array.from([...BINDING_REQUEST, 0, 0, ...MAGIC_COOKIE, ...id])
}

/** Whether a datagram is STUN: its first two bits are 0, as in no SIP message. */
export function isStun(bytes: Uint8Array): boolean {
  return bytes.length >= HEADER_BYTES && bytes[0]! < 64 && MAGIC_COOKIE.every((byte, i) => bytes[4 + i] === byte)
}

/** The transaction of a STUN message; its answer has the same. */
export function stunTransaction(bytes: Uint8Array): string {
  return Buffer.from(bytes.subarray(ID_OFFSET, HEADER_BYTES)).toString('hex')
}

/** Reads the answer to a binding request; null: it is none, or malformed. `bytes` passed {@link isStun}. */
export function readBindingAnswer(bytes: Uint8Array): BindingAnswer | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (view.getUint16(2) !== bytes.length - HEADER_BYTES) return null
  const type = view.getUint16(0)
  if (type === BINDING_ERROR) return { type: 'error' }
  if (type !== BINDING_SUCCESS) return null
  for (let at = HEADER_BYTES; at + 4 <= bytes.length; ) {
    const length = view.getUint16(at + 2)
    const value = bytes.subarray(at + 4, at + 4 + length)
    if (value.length < length) return null
    if (view.getUint16(at) === XOR_MAPPED_ADDRESS) return { type: 'success', mapped: unmasked(value, bytes) }
    // Attributes are padded to four bytes.
    at += 4 + Math.ceil(length / 4) * 4
  }
  return { type: 'success', mapped: null }
}

/** RFC 8489 section 14.2: the port is masked by the cookie, the address by the cookie and the transaction id. */
function unmasked(value: Uint8Array, message: Uint8Array): string | null {
  if (value.length < 4 || value.length !== 4 + (ADDRESS_BYTES[value[1]!] ?? Number.NaN)) return null
  const mask = message.subarray(4, HEADER_BYTES)
  const port = value.subarray(2, 4).map((byte, i) => byte ^ mask[i]!)
  const address = value.subarray(4).map((byte, i) => byte ^ mask[i]!)
  return Buffer.from([...address, ...port]).toString('hex')
}
