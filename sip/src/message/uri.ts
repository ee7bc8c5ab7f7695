import { SipMessageError } from '../errors.ts'
import { consistsOf, isOf, PASSWORD, URI, URI_PARAM, USER } from './characters.ts'
import { headerText } from './header-text.ts'
import { parseHost, parsePort, serialiseHostPort } from './host.ts'
import type { OpaqueUri, Params, SipUri, Uri } from './message.ts'
import { NO_PARAMS } from './params.ts'
import { normaliseEscapes, percentDecode, percentEncode } from './percent-encoding.ts'

const SCHEME = /^[a-z][a-z0-9+.-]*$/
const NO_HEADERS: SipUri['headers'] = []

/** RFC 3261 section 19.1.1. Undefined when `text` is no URI. */
export function parseUri(text: string): Uri | undefined {
  const colon = text.indexOf(':')
  if (colon < 1) return undefined
  const scheme = text.slice(0, colon).toLowerCase()
  if (scheme === 'sip' || scheme === 'sips') return parseSipUri(text, scheme, colon + 1)
  const opaque = text.slice(colon + 1)
  return SCHEME.test(scheme) && isUriText(opaque) ? { scheme, opaque } : undefined
}

function isUriText(text: string): boolean {
  if (text.length === 0) return false
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code < 128 && !isOf(URI, code)) return false
  }
  return true
}

function parseSipUri(text: string, scheme: 'sip' | 'sips', start: number): SipUri | undefined {
  const at = text.indexOf('@', start)
  const hostStart = at === -1 ? start : at + 1
  const hostEnd = endOfHost(text, hostStart)
  const host = parseHost(text.slice(hostStart, hostEnd))
  if (host === undefined || (at !== -1 && at === start)) return undefined

  let i = hostEnd
  let port: number | undefined
  if (text.charCodeAt(i) === 0x3a) {
    const end = endOfPart(text, i + 1)
    port = parsePort(text.slice(i + 1, end))
    if (port === undefined) return undefined
    i = end
  }
  const question = text.indexOf('?', i)
  const params = parseUriParams(text.slice(i, question === -1 ? text.length : question))
  const headers = question === -1 ? NO_HEADERS : parseUriHeaders(text.slice(question + 1))
  if (params === undefined || headers === undefined) return undefined
  if (at === -1) return { scheme, user: undefined, password: undefined, host, port, params, headers }
  return withUserInfo(
    { scheme, user: undefined, password: undefined, host, port, params, headers },
    text.slice(start, at),
  )
}

function endOfHost(text: string, start: number): number {
  if (text.charCodeAt(start) === 0x5b) return text.indexOf(']', start) + 1 || text.length
  let i = start
  while (i < text.length) {
    const code = text.charCodeAt(i)
    if (code === 0x3a || code === 0x3b || code === 0x3f) break
    i++
  }
  return i
}

function endOfPart(text: string, start: number): number {
  let i = start
  while (i < text.length && text.charCodeAt(i) !== 0x3b && text.charCodeAt(i) !== 0x3f) i++
  return i
}

function withUserInfo(uri: SipUri, userInfo: string): SipUri | undefined {
  if (!isUriText(userInfo)) return undefined
  const colon = userInfo.indexOf(':')
  const written = colon === -1 ? userInfo : userInfo.slice(0, colon)
  const user = written === '' ? undefined : percentDecode(written)
  const password = colon === -1 ? undefined : percentDecode(userInfo.slice(colon + 1))
  if (user === undefined || (colon !== -1 && password === undefined)) return undefined
  const plain = { ...uri, user, password }
  const canonical = written === user && consistsOf(USER, written)
  return canonical || percentEncode(user, USER) === written || !/^[\x21-\x7e]+$/.test(written)
    ? plain
    : { ...plain, userAsWritten: written }
}

function parseUriParams(text: string): Params | undefined {
  if (text === '') return NO_PARAMS
  if (text.charCodeAt(0) !== 0x3b || !isUriText(text)) return undefined
  const params = new Map<string, string | null>()
  for (const part of text.slice(1).split(';')) {
    const equals = part.indexOf('=')
    const name = percentDecode(equals === -1 ? part : part.slice(0, equals))?.toLowerCase()
    const value = equals === -1 ? null : percentDecode(part.slice(equals + 1))
    if (name === undefined || name === '' || value === undefined) return undefined
    if (!params.has(name)) params.set(name, value)
  }
  return params
}

function parseUriHeaders(text: string): SipUri['headers'] | undefined {
  if (!isUriText(text)) return undefined
  const headers: [string, string][] = []
  for (const part of text.split('&')) {
    const equals = part.indexOf('=')
    const name = percentDecode(part.slice(0, Math.max(equals, 0)))
    const value = percentDecode(part.slice(equals + 1))
    if (name === undefined || name === '' || value === undefined) return undefined
    headers.push([name, value])
  }
  return headers
}

/** Throws SipMessageError when a part cannot be written. */
export function serialiseUri(uri: Uri): string {
  if (!('host' in uri)) return serialiseOpaque(uri)
  let text = `${uri.scheme}:`
  if (uri.user !== undefined) {
    if (uri.user === '') throw new SipMessageError('bad_field', 'A URI cannot have an empty user part; leave it out')
    text += writtenUser(uri)
    if (uri.password !== undefined) text += `:${percentEncode(uri.password, PASSWORD)}`
    text += '@'
  }
  text += serialiseHostPort(uri.host, uri.port, 'URI')
  for (const [name, value] of uri.params) {
    if (name === '') throw new SipMessageError('bad_field', 'A URI parameter needs a name')
    text += `;${percentEncode(name, URI_PARAM)}`
    if (value !== null) text += `=${percentEncode(value, URI_PARAM)}`
  }
  let separator = '?'
  for (const [name, value] of uri.headers) {
    if (name === '') throw new SipMessageError('bad_field', 'A header in a URI needs a name')
    text += `${separator}${encodeHeaderPart(name)}=${encodeHeaderPart(value)}`
    separator = '&'
  }
  return text
}

/** The user part as the peer wrote it, unless `user` was changed: a Request-URI has to repeat the Contact it came from. */
function writtenUser(uri: SipUri): string {
  const written = uri.userAsWritten
  return written !== undefined &&
    /^[\x21-\x7e]+$/.test(written) &&
    !/[@:"<>]/.test(written) &&
    percentDecode(written) === uri.user
    ? written
    : percentEncode(uri.user ?? '', USER)
}

/** The characters of a parameter, less "&": it separates headers. */
function encodeHeaderPart(text: string): string {
  return percentEncode(text, URI_PARAM).replaceAll('&', '%26')
}

function serialiseOpaque(uri: OpaqueUri): string {
  if (!SCHEME.test(uri.scheme) || !isUriText(uri.opaque)) {
    headerText(`${uri.scheme}${uri.opaque}`, 'URI')
    throw new SipMessageError('bad_field', `Not a URI: ${JSON.stringify(`${uri.scheme}:${uri.opaque}`)}`)
  }
  return `${uri.scheme}:${uri.opaque}`
}

/** URIs do not match if only one of them has one of these parameters. */
const DECIDING_PARAMS = ['user', 'ttl', 'method', 'maddr', 'transport']

/** RFC 3261 section 19.1.4. */
export function uriEquals(left: Uri, right: Uri): boolean {
  if (!('host' in left) || !('host' in right)) {
    return !('host' in left) && !('host' in right) && left.scheme === right.scheme && left.opaque === right.opaque
  }
  return (
    left.scheme === right.scheme &&
    sameUser(left, right) &&
    left.password === right.password &&
    left.host.toLowerCase() === right.host.toLowerCase() &&
    left.port === right.port &&
    sameParams(left.params, right.params) &&
    sameHeaders(left.headers, right.headers)
  )
}

/** Escaped reserved characters differ from plain ones, so the written forms are compared. */
function sameUser(left: SipUri, right: SipUri): boolean {
  if (left.user === undefined || right.user === undefined) return left.user === right.user
  return normaliseEscapes(writtenUser(left)) === normaliseEscapes(writtenUser(right))
}

function sameParams(left: Params, right: Params): boolean {
  for (const name of DECIDING_PARAMS) if (left.has(name) !== right.has(name)) return false
  for (const [name, value] of left) {
    const other = right.get(name)
    if (other !== undefined && other?.toLowerCase() !== value?.toLowerCase()) return false
  }
  return true
}

function sameHeaders(left: SipUri['headers'], right: SipUri['headers']): boolean {
  const key = ([name, value]: readonly [string, string]) => `${name.toLowerCase()}=${value}`
  const other = right.map(key).sort()
  return (
    left.length === right.length &&
    left
      .map(key)
      .sort()
      .every((entry, i) => entry === other[i])
  )
}
