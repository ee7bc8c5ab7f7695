import { SipMessageError } from '../errors.ts'
import { consistsOf, parseDigits, skipSpace, TOKEN } from './characters.ts'
import { headerToken } from './header-text.ts'
import type { CSeq } from './message.ts'

/** RFC 3261 section 8.1.1.5: below 2^31. */
export const MAX_SEQUENCE = 2 ** 31 - 1

/**
 * Parses `4711 INVITE`; leading zeros and any white space between are allowed (RFC 3261 section 20.16).
 * Numbers above MAX_SEQUENCE are accepted here, because the response that refuses them has to repeat them.
 */
export function parseUnboundedCSeq(text: string): CSeq | undefined {
  let digits = 0
  while (digits < text.length && text.charCodeAt(digits) >= 0x30 && text.charCodeAt(digits) <= 0x39) digits++
  const sequence = parseDigits(text.slice(0, digits), 32)
  const methodStart = skipSpace(text, digits)
  const method = text.slice(methodStart)
  return sequence === undefined || methodStart === digits || !consistsOf(TOKEN, method)
    ? undefined
    : { sequence, method }
}

/** Throws SipMessageError for what cannot be written. */
export function serialiseCSeq(cseq: CSeq): string {
  if (!Number.isInteger(cseq.sequence) || cseq.sequence < 0) {
    throw new SipMessageError('bad_field', `CSeq must be a non-negative integer, not ${cseq.sequence}`)
  }
  return `${BigInt(cseq.sequence)} ${headerToken(cseq.method, 'CSeq method')}`
}
