import { consistsOf, parseDigits, TOKEN, trimSpace } from './characters.ts'

/** The first line of a message, split into its elements (RFC 3261 sections 7.1 and 7.2). */
export type StartLine =
  | {
      readonly kind: 'request'
      readonly method: string
      /** Not yet parsed; trimmed. */
      readonly uri: string
      /** "2.0", or another version, which this stack does not support. */
      readonly version: string
      readonly extraSpaces: boolean
    }
  | {
      readonly kind: 'response'
      readonly version: string
      /** Undefined outside 100..699. */
      readonly status: number | undefined
      readonly reason: string
      readonly extraSpaces: boolean
    }

const VERSION = /^SIP\/([0-9]+\.[0-9]+)$/i
const STATUS_LINE = /^SIP\/([0-9]+\.[0-9]+)( +)([0-9]+)(?: (.*))?$/is

/** Undefined when the line is not SIP at all. Several spaces between elements are accepted (RFC 4475 section 3.1.2.9). */
export function parseStartLine(line: string): StartLine | undefined {
  const firstSpace = line.indexOf(' ')
  if (firstSpace < 1) return undefined
  const first = line.slice(0, firstSpace)
  if (/^SIP\//i.test(first)) return parseStatusLine(line)

  const trimmed = trimSpace(line)
  const lastSpace = trimmed.lastIndexOf(' ')
  const version = VERSION.exec(trimmed.slice(lastSpace + 1))?.[1]
  if (version === undefined || lastSpace <= firstSpace || !consistsOf(TOKEN, first)) return undefined
  const between = trimmed.slice(firstSpace + 1, lastSpace)
  const uri = trimSpace(between)
  const extraSpaces = uri.length !== between.length || trimmed.length !== line.length
  return { kind: 'request', method: first, uri, version, extraSpaces }
}

function parseStatusLine(line: string): StartLine | undefined {
  const match = STATUS_LINE.exec(line)
  if (match === null) return undefined
  const code = match[3]?.length === 3 ? parseDigits(match[3], 3) : undefined
  return {
    kind: 'response',
    version: match[1]!,
    status: code !== undefined && code >= 100 && code <= 699 ? code : undefined,
    reason: match[4] ?? '',
    extraSpaces: match[2]!.length > 1,
  }
}
