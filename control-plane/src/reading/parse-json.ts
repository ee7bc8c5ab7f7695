import { type Issue, jsonPointer } from '@parley/contract'

type ParsedJson = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly issue: Issue }

/** Parses a body. Refuses objects that repeat a name: parsers differ in which of the values they keep. */
export function parseJson(text: string): ParsedJson {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    // The parser's message quotes the body, which may hold secrets.
    return { ok: false, issue: { path: '', message: 'body: not JSON' } }
  }
  const path = repeatedName(text)
  if (path === null) return { ok: true, value }
  const pointer = jsonPointer(path.map(part => (typeof part === 'string' ? part.slice(0, 256).toWellFormed() : part)))
  return {
    ok: false,
    issue: { path: pointer.slice(0, 1024), message: 'body: an object has this name twice; send it once' },
  }
}

interface Level {
  /** The names so far; null: an array. */
  readonly names: Set<string> | null
  /** The current name or index. */
  at: string | number
}

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** The path of the first name that an object repeats; null: there is none. `text` is valid JSON. */
function repeatedName(text: string): (string | number)[] | null {
  const levels: Level[] = []
  for (let position = 0; position < text.length; position++) {
    switch (text.charCodeAt(position)) {
      case 0x7b: // {
        levels.push({ names: new Set(), at: '' })
        break
      case 0x5b: // [
        levels.push({ names: null, at: 0 })
        break
      case 0x7d: // }
      case 0x5d: // ]
        levels.pop()
        break
      case 0x2c: {
        // ,
        const level = levels.at(-1)!
        if (level.names === null) level.at = (level.at as number) + 1
        break
      }
      case QUOTE: {
        const end = endOfString(text, position)
        const level = levels.at(-1)
        if (level !== undefined && level.names !== null && isName(text, end)) {
          const name = JSON.parse(text.slice(position, end)) as string
          level.at = name
          if (level.names.has(name)) return levels.map(({ at }) => at)
          level.names.add(name)
        }
        position = end - 1
      }
    }
  }
  return null
}

/** The position after the closing quote of the string that begins at `start`. */
function endOfString(text: string, start: number): number {
  for (let position = start + 1; ; position++) {
    const code = text.charCodeAt(position)
    if (code === QUOTE) return position + 1
    if (code === BACKSLASH) position += 1
  }
}

/** Whether a colon follows, so that the string is a name and not a value. */
function isName(text: string, end: number): boolean {
  let position = end
  while (/[ \t\r\n]/.test(text[position] ?? '')) position += 1
  return text[position] === ':'
}
