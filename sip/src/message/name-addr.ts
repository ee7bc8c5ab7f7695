import { consistsOf, DISPLAY, type FaultReporter, ignoreFault, skipSpace, TOKEN, trimSpace } from './characters.ts'
import type { NameAddr } from './message.ts'
import { parseParams, serialiseParams } from './params.ts'
import { endOfQuoted, quote, unquote } from './quoted-string.ts'
import { splitList } from './split-list.ts'
import { parseUri, serialiseUri } from './uri.ts'

/** `"Display" <uri>;params`, or the addr-spec form without brackets (RFC 3261 section 20.10). */
export function parseNameAddr(text: string, notice: FaultReporter = ignoreFault): NameAddr | undefined {
  const start = skipSpace(text, 0)
  if (text.charCodeAt(start) === 0x22) {
    const end = endOfQuoted(text, start)
    if (end === -1) return undefined
    const open = skipSpace(text, end)
    const displayName = unquote(text.slice(start, end))
    return displayName === undefined ? undefined : parseBracketed(text, open, displayName, notice)
  }
  const open = text.indexOf('<', start)
  // RFC 4475 section 3.1.1.6: no space is needed between a display name and the bracket.
  if (open === -1) return parseAddrSpec(text, start, notice)
  const displayName = trimSpace(text.slice(start, open))
  if (displayName === '') return parseBracketed(text, open, undefined, notice)
  return isUnquotedDisplayName(displayName, notice) ? parseBracketed(text, open, displayName, notice) : undefined
}

function parseBracketed(
  text: string,
  open: number,
  displayName: string | undefined,
  notice: FaultReporter,
): NameAddr | undefined {
  const close = text.indexOf('>', open)
  if (text.charCodeAt(open) !== 0x3c || close === -1) return undefined
  const written = text.slice(open + 1, close)
  const addrSpec = trimSpace(written)
  if (addrSpec !== written) notice('spaces_in_addr_spec', 'Spaces stand between the angle brackets and the URI.')
  const uri = parseUri(addrSpec)
  const params = parseParams(text, close + 1, notice)
  return uri === undefined || params === undefined ? undefined : { displayName, uri, params }
}

/** Without brackets everything from the first semicolon on belongs to the header, and "?" and "," are not allowed. */
function parseAddrSpec(text: string, start: number, notice: FaultReporter): NameAddr | undefined {
  const semicolon = text.indexOf(';', start)
  const end = semicolon === -1 ? text.length : semicolon
  const addrSpec = trimSpace(text.slice(start, end))
  if (addrSpec.includes('?') || addrSpec.includes(',')) return undefined
  const uri = parseUri(addrSpec)
  const params = parseParams(text, end, notice)
  return uri === undefined || params === undefined ? undefined : { displayName: undefined, uri, params }
}

/** Tokens by the grammar; other words are common enough to be taken where they cannot be misread. */
function isUnquotedDisplayName(text: string, notice: FaultReporter): boolean {
  const words = text.split(/[ \t]+/)
  if (words.every(word => consistsOf(TOKEN, word))) return true
  const harmless = words.every(word => consistsOf(DISPLAY, word.replace(/[\u0080-\u{10ffff}]/gu, 'x')))
  if (harmless) notice('unquoted_display_name', 'The display name holds characters that need quotes.')
  return harmless
}

/** A whole header value with one or more addresses; undefined when any of them is malformed. */
export function parseNameAddrList(value: string, notice: FaultReporter = ignoreFault): readonly NameAddr[] | undefined {
  const addresses: NameAddr[] = []
  for (const element of splitList(value)) {
    const address = parseNameAddr(element, notice)
    if (address === undefined) return undefined
    addresses.push(address)
  }
  return addresses
}

/** Always with angle brackets, the display name always quoted; throws SipMessageError for what cannot be written. */
export function serialiseNameAddr(address: NameAddr, where = 'Address'): string {
  const display = address.displayName === undefined ? '' : `${quote(address.displayName, `${where} display name`)} `
  return `${display}<${serialiseUri(address.uri)}>${serialiseParams(address.params, where)}`
}
