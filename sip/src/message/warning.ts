import { SipMessageError } from '../errors.ts'
import { headerToken } from './header-text.ts'
import { parseHost } from './host.ts'
import { quote } from './quoted-string.ts'

/**
 * The value of a Warning header (RFC 3261 section 20.43): `399 agent "text"`. `code` is 300..399, `agent` a host, with
 * or without port, or a token. Throws SipMessageError for anything else.
 */
export function serialiseWarning(code: number, agent: string, text: string): string {
  if (!Number.isInteger(code) || code < 300 || code > 399) {
    throw new SipMessageError('bad_field', `A warning code is 300..399, not ${code}`)
  }
  const host = agent.replace(/:[0-9]{1,5}$/, '')
  if (parseHost(host) === undefined) headerToken(agent, 'Warning agent')
  return `${code} ${agent} ${quote(text, 'Warning text')}`
}
