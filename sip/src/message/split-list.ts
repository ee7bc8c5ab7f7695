import { trimSpace } from './characters.ts'
import { endOfQuoted } from './quoted-string.ts'

/**
 * The elements of a comma-separated header value (RFC 3261 section 7.3.1), trimmed; commas in quotes and in angle
 * brackets do not split. Empty elements stay as '': whether they are an error is for the header to say.
 */
export function splitList(value: string): string[] {
  if (!value.includes(',')) return [trimSpace(value)]
  const elements: string[] = []
  let start = 0
  let bracketed = false
  for (let i = 0; i < value.length; i++) {
    const code = value.charCodeAt(i)
    if (code === 0x22 && !bracketed) {
      const end = endOfQuoted(value, i)
      if (end === -1) break
      i = end - 1
    } else if (code === 0x3c) bracketed = true
    else if (code === 0x3e) bracketed = false
    else if (code === 0x2c && !bracketed) {
      elements.push(trimSpace(value.slice(start, i)))
      start = i + 1
    }
  }
  elements.push(trimSpace(value.slice(start)))
  return elements
}
