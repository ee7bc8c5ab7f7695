import { SipMessageError } from '../errors.ts'
import { consistsOf, TOKEN } from './characters.ts'

const LINE_BREAKING = /[\r\n\0]/

/** Returns `text` if a header line can carry it; otherwise throws SipMessageError "header_injection". */
export function headerText(text: string, where: string): string {
  if (LINE_BREAKING.test(text)) {
    throw new SipMessageError('header_injection', `${where} contains a line break or NUL; remove it before sending`)
  }
  return text
}

/** Returns `text` if it is a token (RFC 3261 section 25.1); otherwise throws SipMessageError "bad_field". */
export function headerToken(text: string, where: string): string {
  if (consistsOf(TOKEN, text)) return text
  headerText(text, where)
  throw new SipMessageError('bad_field', `${where} must be a token, not ${JSON.stringify(text)}`)
}
