import { SipMessageError } from '../errors.ts'
import { HeaderList } from '../message/header-list.ts'
import { headerText, headerToken } from '../message/header-text.ts'
import type { HeaderPairs } from './session.ts'

/** Longest header line, in bytes, that an application may send or receive, without its line break. */
const LONGEST_LINE = 1024

/** Most custom headers of one message that are passed on. */
const MOST_HEADERS = 32

// biome-ignore lint/suspicious/noControlCharactersInRegex: the rule is about control characters
const CONTROL = /[\0-\x08\x0a-\x1f\x7f]/

/**
 * The custom headers that may cross between a call and an application: only `X-` names that `allow` lists (whatever
 * their case), only lines of at most 1024 bytes, only values without control characters; at most 32.
 */
export function forwardableHeaders(headers: HeaderList, allow: readonly string[]): HeaderPairs {
  const allowed = new Set(allow.map(name => name.toLowerCase()).filter(name => name.startsWith('x-')))
  return headers.entries
    .filter(([name, value]) => allowed.has(name.toLowerCase()) && !CONTROL.test(value) && !isTooLong(name, value))
    .slice(0, MOST_HEADERS)
}

/** Throws SipMessageError for an application header that must not be sent ("header_injection", "bad_field"). */
export function checkHeaders(pairs: HeaderPairs): void {
  for (const [name, value] of pairs) {
    headerToken(name, 'Header name')
    headerText(value, name)
    if (isTooLong(name, value)) {
      throw new SipMessageError('bad_field', `the header ${name} is longer than ${LONGEST_LINE} bytes; shorten it`)
    }
  }
}

function isTooLong(name: string, value: string): boolean {
  return Buffer.byteLength(`${name}: ${value}`, 'utf8') > LONGEST_LINE
}

/** Our headers followed by those of the application. */
export function headersWith(
  pairs: readonly (readonly [string, string])[] | undefined,
  base = HeaderList.empty,
): HeaderList {
  return (pairs ?? []).reduce((list, [name, value]) => list.with(name, value), base)
}
