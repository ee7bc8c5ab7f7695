import { isOf } from './characters.ts'

const BROKEN_ESCAPE = /%(?![0-9a-fA-F]{2})/
const ESCAPE = /%([0-9a-fA-F]{2})/g

/**
 * Unescapes once, never recursively (RFC 4475 section 3.1.1.3). Escapes that are no UTF-8 are read as ISO 8859-1.
 * Undefined for a "%" without two hexadecimal digits.
 */
export function percentDecode(text: string): string | undefined {
  if (!text.includes('%')) return text
  if (BROKEN_ESCAPE.test(text)) return undefined
  try {
    return decodeURIComponent(text)
  } catch {
    return text.replace(ESCAPE, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  }
}

/** Escapes the UTF-8 bytes of everything outside the character class. */
export function percentEncode(text: string, bit: number): string {
  let plain = true
  for (let i = 0; i < text.length && plain; i++) plain = isOf(bit, text.charCodeAt(i))
  if (plain) return text
  let encoded = ''
  for (const byte of Buffer.from(text, 'utf8')) {
    encoded += isOf(bit, byte) ? String.fromCharCode(byte) : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }
  return encoded
}

/** One spelling for all equivalent ones: unreserved characters unescaped, hexadecimal digits in upper case. */
export function normaliseEscapes(text: string): string {
  return text.replace(ESCAPE, (written, hex: string) => {
    const character = String.fromCharCode(Number.parseInt(hex, 16))
    return /[A-Za-z0-9\-_.!~*'()]/.test(character) ? character : written.toUpperCase()
  })
}
