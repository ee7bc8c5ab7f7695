import type { NameAddr } from './message.ts'

/** `"Display" <uri>;params`, or the addr-spec form without brackets (RFC 3261 section 20.10). */
export function parseNameAddr(_text: string): NameAddr | undefined {
  throw new Error('being written')
}

/** A whole header value with one or more addresses; undefined when any of them is malformed. */
export function parseNameAddrList(_value: string): readonly NameAddr[] | undefined {
  throw new Error('being written')
}

/** Always with angle brackets. */
export function serialiseNameAddr(_address: NameAddr): string {
  throw new Error('being written')
}
