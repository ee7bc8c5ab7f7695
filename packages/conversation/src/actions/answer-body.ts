/** As deep as bodies of the API may be; deeper ones overflow the stack of whoever walks them. */
const MAX_DEPTH = 64

/** An answer's body for the conversation: the JSON value that it is, else its text; null when there is nothing. */
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
