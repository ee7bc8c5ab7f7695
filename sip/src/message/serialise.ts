import type { SipMessage } from './message.ts'

/**
 * The bytes of a message: start line, typed fields, `headers` in order (any Content-Length in them is replaced),
 * Content-Length, body. Throws SipMessageError ("header_injection", "bad_field") instead of writing a second header line.
 */
export function serialise(_message: SipMessage): Uint8Array {
  throw new Error('being written')
}
