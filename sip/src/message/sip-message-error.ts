import { ParleyError } from '@parley/kernel'

/**
 * A message that must not be written. Codes: "header_injection" (CR, LF or NUL in something that reaches a header),
 * "bad_field" (a value that its header's grammar cannot carry: an empty host, a method that is no token, …).
 */
export class SipMessageError extends ParleyError {}
