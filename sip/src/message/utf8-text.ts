const HIGH = /[\x80-\xff]/
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Reads bytes that came as one character each as UTF-8 (RFC 3261 section 7). Undefined when they are no UTF-8: the
 * caller goes on with them as ISO 8859-1, which is what old telephones send.
 */
export function utf8FromBytes(text: string): string | undefined {
  if (!HIGH.test(text)) return text
  try {
    return decoder.decode(Buffer.from(text, 'latin1'))
  } catch {
    return undefined
  }
}
