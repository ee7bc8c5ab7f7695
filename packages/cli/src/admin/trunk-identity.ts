import type { PrivacyValue } from '@parley/store'
import { UsageError } from '../usage.ts'
import { listed, oneOf, words } from './flag-values.ts'

const MAX_IDENTITY = 128
const MAX_HEADERS = 20
const PRIVACY: readonly PrivacyValue[] = ['id', 'user', 'header', 'session', 'critical', 'none']

/** Headers that are part of every message or hold credentials: they are neither read into variables nor written from them. */
const OF_THE_STACK = new Set(
  `via from to call-id cseq contact route record-route max-forwards content-type content-length content-encoding
  content-disposition authorization proxy-authorization`.split(/\s+/),
)
/** Headers of an INVITE that settings of the trunk or of the user agent decide. */
const DECIDED_OTHERWISE = new Set(
  `accept allow allow-events date diversion expires history-info identity join min-se mime-version p-asserted-identity
  p-preferred-identity path privacy proxy-require rack reason recv-info refer-to referred-by replaces require rseq
  security-client security-verify session-expires supported timestamp unsupported user-agent`.split(/\s+/),
)

/** The user name or number by which the carrier knows us; it is copied into SIP headers unchanged. */
export function identity(value: string): string {
  return userPart('--identity', value)
}

/** `caller`: the run's own number. */
export function assertedIdentity(value: string): string {
  return value === 'caller' ? value : userPart('--asserted-identity', value)
}

export function diversion(value: string): string {
  return userPart('--diversion', value)
}

function userPart(flag: string, value: string): string {
  if (!/^[A-Za-z0-9+_.!~*'()-]+$/.test(value))
    throw new UsageError(`${flag} takes a number or the user part of a SIP address, such as +4930123456`)
  return words(flag, value, MAX_IDENTITY)
}

/** RFC 3323 section 4.2: "none" stands alone, and "critical" is a demand about other values. */
export function privacy(value: string): readonly PrivacyValue[] {
  const values = listed('--privacy', [value], (flag, text) => oneOf(flag, text, PRIVACY)) as readonly PrivacyValue[]
  const isAlone = values.length === 1
  if ((values.includes('none') && !isAlone) || (values.includes('critical') && isAlone))
    throw new UsageError('--privacy takes "none" alone, and "critical" only with another value, such as id,critical')
  return values
}

export function headersIn(value: string): readonly string[] {
  return headerNames('--headers-in', value, name => OF_THE_STACK.has(name))
}

export function headersOut(value: string): readonly string[] {
  return headerNames('--headers-out', value, name => OF_THE_STACK.has(name) || DECIDED_OTHERWISE.has(name))
}

function headerNames(flag: string, value: string, isRefused: (name: string) => boolean): readonly string[] {
  const names = listed(flag, [value], (_, name) => {
    if (!/^[A-Za-z][A-Za-z0-9-]{0,62}$/.test(name))
      throw new UsageError(
        `${flag} takes names of headers, such as X-Account,User-to-User, not ${JSON.stringify(name.slice(0, 100))}`,
      )
    if (isRefused(name.toLowerCase())) throw new UsageError(`${flag} cannot take ${name}: Parley decides this header`)
    return name
  })
  if (names.length > MAX_HEADERS) throw new UsageError(`${flag} takes at most ${MAX_HEADERS} names`)
  return names
}
