const HIGH = /[\x80-\xff]/
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Decodes a text with one character per byte as UTF-8 (RFC 3261 section 7). Undefined if it is not valid UTF-8: the
 * caller then keeps the text as ISO 8859-1, which old telephones send.
 */
export function utf8FromBytes(text: string): string | undefined {
  if (!HIGH.test(text)) return text
  try {
    return decoder.decode(Buffer.from(text, 'latin1'))
  } catch {
    return undefined
  }
}
