/** The nesting limit of API bodies; deeper values could overflow the stack of recursive code. */
const MAX_DEPTH = 64

/** The body of an HTTP response: its JSON value, else its text; null when it is blank. */
export function answerBody(bytes: Uint8Array): unknown {
  const text = new TextDecoder().decode(bytes)
  if (text.trim() === '') return null
  if (nestsTooDeep(text)) return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Brackets inside strings do not count. */
function nestsTooDeep(text: string): boolean {
  let depth = 0
  let quoted = false
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at)
    if (quoted) {
      if (character === BACKSLASH) at++
      else if (character === QUOTE) quoted = false
    } else if (character === QUOTE) quoted = true
    else if (character === OPEN_BRACKET || character === OPEN_BRACE) {
      depth++
      if (depth > MAX_DEPTH) return true
    } else if (character === CLOSE_BRACKET || character === CLOSE_BRACE) depth--
  }
  return false
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
