import { SipMessageError } from '../errors.ts'
import { HeaderList } from '../message/header-list.ts'
import { headerText, headerToken } from '../message/header-text.ts'
import type { HeaderPairs } from './session.ts'

/** Maximum length of a header line of an application in bytes, without its line break. */
const MAX_LINE_BYTES = 1024

/** Throws SipMessageError for an application header that must not be sent ("header_injection", "bad_field"). */
export function checkHeaders(pairs: HeaderPairs): void {
  for (const [name, value] of pairs) {
    headerToken(name, 'Header name')
    headerText(value, name)
    if (isTooLong(name, value)) {
      throw new SipMessageError('bad_field', `the header ${name} is longer than ${MAX_LINE_BYTES} bytes; shorten it`)
    }
  }
}

function isTooLong(name: string, value: string): boolean {
  return Buffer.byteLength(`${name}: ${value}`, 'utf8') > MAX_LINE_BYTES
}

/** Our headers followed by those of the application. */
export function headersWith(
  pairs: readonly (readonly [string, string])[] | undefined,
  base = HeaderList.empty,
): HeaderList {
  return (pairs ?? []).reduce((list, [name, value]) => list.with(name, value), base)
}
