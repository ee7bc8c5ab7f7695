/** Classes of characters in RFC 3261 section 25.1, as bits of a table over ASCII. */
export const TOKEN = 1
/** `user` without escapes: unreserved and user-unreserved, plus characters that telephones send although the grammar forbids them. */
export const USER = 2
/** `paramchar` without escapes. */
export const URI_PARAM = 4
/** Unquoted parameter value of a header: token, host, and what phones send there unquoted ("/", "@", "?", …). */
export const PARAM_VALUE = 8
/** Anything that may stand in a URI: visible, no quotes, no angle brackets. */
export const URI = 16
export const HOST = 32
/** `word` of a Call-ID. */
export const WORD = 64
/** An unquoted display name, more tolerant than the grammar: any character except separators that would change the value's meaning. */
export const DISPLAY = 128
/** `password` of a URI without escapes. */
export const PASSWORD = 256

const ALPHANUMERIC = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const MARK = "-_.!~*'()"

const TABLE = new Uint16Array(128)

function add(bit: number, characters: string): void {
  for (let i = 0; i < characters.length; i++) TABLE[characters.charCodeAt(i)]! |= bit
}

add(TOKEN, `${ALPHANUMERIC}-.!%*_+\`'~`)
add(USER, `${ALPHANUMERIC}${MARK}&=+$,;?/`)
add(PASSWORD, `${ALPHANUMERIC}${MARK}&=+$,`)
add(URI_PARAM, `${ALPHANUMERIC}${MARK}[]/:&+$`)
add(HOST, `${ALPHANUMERIC}-._`)
add(WORD, `${ALPHANUMERIC}-.!%*_+\`'~()<>:\\"/[]?{}@&=$,;#|^`)
for (let code = 0x21; code < 0x7f; code++) {
  const character = String.fromCharCode(code)
  if (!'"<>'.includes(character)) TABLE[code]! |= URI
  if (!'",;<>\\'.includes(character)) TABLE[code]! |= PARAM_VALUE
  if (!'",;<>@:\\'.includes(character)) TABLE[code]! |= DISPLAY
}

/** Whether the character code belongs to the class; never for codes beyond ASCII. */
export function isOf(bit: number, code: number): boolean {
  return code < 128 && (TABLE[code]! & bit) !== 0
}

/** Whether `text` is not empty and consists of characters of one class. */
export function consistsOf(bit: number, text: string): boolean {
  return text.length > 0 && skipClass(bit, text, 0) === text.length
}

/** The index of the first character at or behind `start` that is not of the class. */
export function skipClass(bit: number, text: string, start: number): number {
  let i = start
  while (i < text.length) {
    const code = text.charCodeAt(i)
    if (code >= 128 || (TABLE[code]! & bit) === 0) break
    i++
  }
  return i
}

/** The index of the first character at or behind `start` that is neither space nor tab. */
export function skipSpace(text: string, start: number): number {
  let i = start
  while (i < text.length) {
    const code = text.charCodeAt(i)
    if (code !== 0x20 && code !== 0x09) break
    i++
  }
  return i
}

/** `text` without the spaces and tabs at its ends; nothing else counts as white space in SIP. */
export function trimSpace(text: string): string {
  const start = skipSpace(text, 0)
  let end = text.length
  while (end > start) {
    const code = text.charCodeAt(end - 1)
    if (code !== 0x20 && code !== 0x09) break
    end--
  }
  return start === 0 && end === text.length ? text : text.slice(start, end)
}

/** A run of 1 to `maxDigits` decimal digits as a number; undefined for anything else. */
export function parseDigits(text: string, maxDigits: number): number | undefined {
  if (text.length === 0 || text.length > maxDigits) return undefined
  let value = 0
  for (let i = 0; i < text.length; i++) {
    const digit = text.charCodeAt(i) - 0x30
    if (digit < 0 || digit > 9) return undefined
    value = value * 10 + digit
  }
  return value
}

/** Receives the faults of a value that is accepted in spite of them. */
export type FaultReporter = (code: string, detail: string) => void

export const ignoreFault: FaultReporter = () => {}
