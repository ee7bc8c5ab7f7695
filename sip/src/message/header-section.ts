import type { MessageLimits } from './parse-result.ts'

/** One header field as received. */
export interface RawField {
  /** As written, without white space before the colon. */
  readonly name: string
  /** Unfolded and trimmed, one character per byte. */
  readonly value: string
  readonly offset: number
}

/** A message up to and including the empty line behind its headers. */
export interface HeaderSection {
  readonly startLine: string
  readonly startOffset: number
  readonly fields: readonly RawField[]
  /** Where the body begins. */
  readonly end: number
  /** Whether the empty line was found. */
  readonly terminated: boolean
  readonly bareLineFeeds: boolean
  /** The fault that makes the section unacceptable; `fields` holds the fields before it. */
  readonly problem: SectionProblem | undefined
}

export interface SectionProblem {
  readonly code:
    | 'line_too_long'
    | 'start_line_too_long'
    | 'too_many_headers'
    | 'bad_header_line'
    | 'bare_carriage_return'
  readonly offset: number
}

/**
 * Cuts a message into lines and unfolds them (RFC 3261 sections 7.3.1 and 25.1, LWS). `text` has one character per
 * byte, so that indices are byte offsets. A line may end in LF alone. Work is linear in the length of the section.
 */
export function readHeaderSection(text: string, limits: MessageLimits): HeaderSection {
  const startOffset = skipLineBreaks(text)
  const cursor = new LineCursor(text, startOffset)
  const first = cursor.next()
  const startLine = first === undefined ? '' : text.slice(first.start, first.end)
  const fields: RawField[] = []
  let problem: SectionProblem | undefined
  const fault = (code: SectionProblem['code'], offset: number) => {
    problem ??= { code, offset }
  }
  if (startLine.length > limits.lineBytes) fault('start_line_too_long', startOffset)
  if (isFold(text, cursor.position)) fault('bad_header_line', cursor.position)

  let terminated = false
  for (let line = cursor.next(); line !== undefined; line = cursor.next()) {
    if (line.end === line.start) {
      terminated = true
      break
    }
    const folded = cursor.takeFolds()
    if (fields.length >= limits.headerCount) {
      fault('too_many_headers', line.start)
      continue
    }
    const end = folded ?? line.end
    const colon = text.indexOf(':', line.start)
    const nameEnd = colon === -1 || colon > end ? -1 : endOfName(text, line.start, colon)
    if (end - line.start > limits.lineBytes) fault('line_too_long', line.start)
    else if (nameEnd === -1) fault('bad_header_line', line.start)
    else {
      const raw = text.slice(colon + 1, end)
      const value = folded === undefined ? raw : raw.replace(FOLD, ' ')
      if (value.includes('\r')) fault('bare_carriage_return', line.start)
      else fields.push({ name: text.slice(line.start, nameEnd), value: trim(value), offset: line.start })
    }
  }
  const { position: end, bareLineFeeds } = cursor
  return { startLine, startOffset, fields, end, terminated, bareLineFeeds, problem }
}

// Must not begin with white space: a long run of white space would be scanned again from each of its positions (quadratic time).
const FOLD = /\r?\n[ \t]+/g

function trim(value: string): string {
  let start = 0
  let end = value.length
  while (start < end && isBlank(value.charCodeAt(start))) start++
  while (end > start && isBlank(value.charCodeAt(end - 1))) end--
  return value.slice(start, end)
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09
}

function endOfName(text: string, start: number, colon: number): number {
  let end = colon
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--
  return end
}

function isFold(text: string, position: number): boolean {
  return isBlank(text.charCodeAt(position))
}

/** RFC 3261 section 7.5: line breaks before the start line are ignored. */
function skipLineBreaks(text: string): number {
  let i = 0
  while (text.charCodeAt(i) === 0x0d || text.charCodeAt(i) === 0x0a) i++
  return i
}

class LineCursor {
  readonly #text: string
  position: number
  bareLineFeeds = false

  constructor(text: string, start: number) {
    this.#text = text
    this.position = start
  }

  /** The next line without its end; undefined at the end of the text. */
  next(): { readonly start: number; readonly end: number } | undefined {
    const start = this.position
    if (start >= this.#text.length) return undefined
    const feed = this.#text.indexOf('\n', start)
    if (feed === -1) {
      this.position = this.#text.length
      return { start, end: this.position }
    }
    this.position = feed + 1
    const carriageReturn = feed > start && this.#text.charCodeAt(feed - 1) === 0x0d
    if (!carriageReturn) this.bareLineFeeds = true
    return { start, end: carriageReturn ? feed - 1 : feed }
  }

  /** Skips continuation lines; returns the end of the last one, or undefined if there is none. */
  takeFolds(): number | undefined {
    let end: number | undefined
    while (isFold(this.#text, this.position)) end = this.next()?.end
    return end
  }
}
