import { parseNameAddr, type SipRequest, type Uri } from '@parley/leg'
import { type CountryCode, isSupportedCountry, parsePhoneNumberFromString } from 'libphonenumber-js/max'

/** How numbers of a trunk's inbound calls are written. */
export interface NumberRules {
  /** Digits that are removed from numbers that begin with them; default none. */
  readonly prefix?: string | undefined
  /** Reading of numbers without "+"; default any: as E.164 digits and as dialled in the country. */
  readonly format?: 'any' | 'e164' | 'national' | undefined
}

/**
 * The called number: the user part of the Request-URI if it is a number, else that of To, else that of P-Called-Party-ID
 * (RFC 7315). `country`: ISO 3166-1 alpha-2; numbers may be written as they are dialled there; null: unknown. Returns every
 * E.164 number that may be meant, with "+", the likeliest first; empty: no header has a number.
 */
export function calledNumbers(invite: SipRequest, country: string | null, rules: NumberRules = {}): readonly string[] {
  for (const written of candidateTexts(invite)) {
    const numbers = e164Numbers(written, country, rules)
    if (numbers.length > 0) return numbers
  }
  return []
}

/** Every E.164 number, with "+", that `written` may mean: in international form, or as it is dialled in `country`. */
export function e164Numbers(written: string, country: string | null, rules: NumberRules = {}): readonly string[] {
  const { prefix = '', format = 'any' } = rules
  const text = prefix !== '' && written.startsWith(prefix) ? written.slice(prefix.length) : written
  const numbers = new Set<string>()
  const isInternational = /^\s*(\+|00)/.test(text)
  const digits = isInternational || format !== 'national' ? e164Digits(text) : null
  if (digits !== null) numbers.add(`+${digits}`)
  if (!isInternational && format !== 'e164' && country !== null && isSupportedCountry(country)) {
    const parsed = parsePhoneNumberFromString(text, { defaultCountry: country as CountryCode, extract: false })
    if (parsed?.isPossible()) numbers.add(parsed.number)
  }
  return [...numbers]
}

/** E.164 digits of a written number: "+1 (555) 000-1111", "0015550001111" and "15550001111" are the same; null: no number. */
export function e164Digits(written: string): string | null {
  const bare = written.replaceAll(/[\s().-]/g, '')
  const digits = /^(?:\+|00)?([1-9]\d{4,14})$/.exec(bare)?.[1]
  return digits ?? null
}

/** Texts of the INVITE that may be the called number, in order of precedence. */
function candidateTexts(invite: SipRequest): string[] {
  const party = invite.headers.get('P-Called-Party-ID')
  const partyUri = party === undefined ? undefined : parseNameAddr(party)?.uri
  return [invite.uri, invite.to.uri, partyUri].flatMap(uri => {
    const written = uri === undefined ? null : numberTextOf(uri)
    return written === null ? [] : [written]
  })
}

/** The user part of a SIP URI without its parameters, or the number of a tel URI; null: it has none. */
export function numberTextOf(uri: Uri): string | null {
  if ('user' in uri) return uri.user?.split(';')[0] ?? null
  return 'opaque' in uri && uri.scheme === 'tel' ? uri.opaque.split(';')[0]! : null
}
