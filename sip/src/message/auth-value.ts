import { consistsOf, skipClass, skipSpace, TOKEN, trimSpace } from './characters.ts'
import { headerToken } from './header-text.ts'
import type { Params } from './message.ts'
import { NO_PARAMS } from './params.ts'
import { endOfQuoted, quote, unquote } from './quoted-string.ts'
import { splitList } from './split-list.ts'

/** A challenge or credentials (RFC 3261 sections 20.7, 20.27, 20.28, 20.44). */
export interface AuthValue {
  /** As written; compare without regard to case. */
  readonly scheme: string
  /** Names lower-cased, quoted strings unquoted. Empty for a scheme that carries no name=value pairs. */
  readonly params: Params
}

/** WWW-Authenticate or Proxy-Authenticate: one line may carry several challenges. Unreadable ones are left out. */
export function parseChallenges(value: string): AuthValue[] {
  const challenges: AuthValue[] = []
  let scheme: string | undefined
  let params: Map<string, string> | undefined
  const finish = () => {
    if (scheme !== undefined && params !== undefined) challenges.push({ scheme, params })
  }
  for (const element of splitList(value)) {
    const start = startOfScheme(element)
    if (start !== undefined) {
      finish()
      scheme = start.scheme
      params = new Map()
      if (start.rest === '') continue
    }
    if (params !== undefined && !addPair(params, start?.rest ?? element)) params = undefined
  }
  finish()
  return challenges
}

/** Authorization or Proxy-Authorization; undefined when malformed. */
export function parseCredentials(value: string): AuthValue | undefined {
  const start = startOfScheme(trimSpace(value))
  if (start === undefined) return undefined
  if (start.rest === '' || isToken68(start.rest)) return { scheme: start.scheme, params: NO_PARAMS }
  const params = new Map<string, string>()
  for (const element of splitList(start.rest)) if (!addPair(params, element)) return undefined
  return { scheme: start.scheme, params }
}

/** Whether `text` begins a new challenge (`Digest realm="x"`) or continues the previous one (`nonce="y"`). */
function startOfScheme(element: string): { scheme: string; rest: string } | undefined {
  const end = skipClass(TOKEN, element, 0)
  const next = skipSpace(element, end)
  if (end === 0 || element.charCodeAt(next) === 0x3d || (next === end && end !== element.length)) return undefined
  return { scheme: element.slice(0, end), rest: element.slice(next) }
}

function isToken68(text: string): boolean {
  return /^[A-Za-z0-9\-._~+/]+=*$/.test(text)
}

/** A parameter that appears twice makes the whole value malformed (RFC 7616 section 3.4). */
function addPair(params: Map<string, string>, element: string): boolean {
  const equals = element.indexOf('=')
  const name = trimSpace(element.slice(0, Math.max(equals, 0))).toLowerCase()
  const written = trimSpace(element.slice(equals + 1))
  const quoted = written.startsWith('"') && endOfQuoted(written, 0) === written.length
  const value = quoted ? unquote(written) : written
  if (!consistsOf(TOKEN, name) || params.has(name) || value === undefined) return false
  if (!quoted && (value === '' || /[\s",<>]/.test(value))) return false
  params.set(name, value)
  return true
}

/**
 * `scheme name=value, name="value"`: names in `bare` are written as tokens, all others quoted. Throws SipMessageError
 * for what cannot be written.
 */
export function serialiseAuthValue(value: AuthValue, bare: ReadonlySet<string>): string {
  const pairs: string[] = []
  for (const [name, text] of value.params) {
    const where = `${value.scheme} parameter "${name}"`
    const written = bare.has(name) ? headerToken(text ?? '', where) : quote(text ?? '', where)
    pairs.push(`${headerToken(name, `${value.scheme} parameter name`)}=${written}`)
  }
  return `${headerToken(value.scheme, 'Authentication scheme')} ${pairs.join(', ')}`.trimEnd()
}
