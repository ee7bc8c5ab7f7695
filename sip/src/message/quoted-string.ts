import { SipMessageError } from '../errors.ts'

/** The index behind the closing quote of the string that opens at `start`; -1 when it never closes. Linear. */
export function endOfQuoted(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === 0x5c) i++
    else if (code === 0x22) return i + 1
  }
  return -1
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the grammar is about control characters
const CONTROL = /[\0-\x08\x0a-\x1f\x7f]/
// biome-ignore lint/suspicious/noControlCharactersInRegex: the grammar is about control characters
const ESCAPED_OR_PLAIN = /^(?:\\[^\r\n]|[^\\\0-\x08\x0a-\x1f\x7f])*$/u

/**
 * What stands between the quotes, unescaped (RFC 3261 section 25.1, quoted-string). Control characters count only as
 * quoted pairs, and CR and LF never; undefined otherwise.
 */
export function unquote(quoted: string): string | undefined {
  const inner = quoted.slice(1, -1)
  if (CONTROL.test(inner) && !ESCAPED_OR_PLAIN.test(inner)) return undefined
  return inner.includes('\\') ? inner.replace(/\\([\s\S])/gu, '$1') : inner
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the grammar is about control characters
const MUST_ESCAPE = /["\\\0-\x08\x0b\x0c\x0e-\x1f\x7f]/g

/**
 * A quoted-string. Control characters, NUL among them, become quoted pairs: a response has to copy them from the
 * request (RFC 4475 section 3.1.1.2). CR and LF throw SipMessageError "header_injection".
 */
export function quote(text: string, where: string): string {
  if (/[\r\n]/.test(text)) {
    throw new SipMessageError('header_injection', `${where} holds a line break; remove it before sending`)
  }
  return `"${text.replace(MUST_ESCAPE, '\\$&')}"`
}
