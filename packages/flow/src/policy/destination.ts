import { type NumberType, type PhoneNumber, parsePhoneNumberFromString } from 'libphonenumber-js/max'
import { POLICY_VERSION } from './policy-version.ts'

export interface DestinationRules {
  /**
   * ISO 3166-1 alpha-2 codes, such as `US`. Countries that share a calling code (+1, +7, +44) count separately. Null: the
   * countries of `ownNumbers`.
   */
  readonly allowedCountries: readonly string[] | null
  /** The environment's own numbers in E.164, or at least one per country. Default none. */
  readonly ownNumbers?: readonly string[]
  /** E.164 prefixes, such as `+8816`, that are allowed whatever their country and tariff. Invalid ones are ignored. */
  readonly allowPrefixes?: readonly string[]
  /** Whether the run may dial at all. */
  readonly mayDial: boolean
}

interface DestinationVerdict {
  readonly decision: 'allow' | 'deny'
  /** Null when the destination is allowed. */
  readonly reason: 'destination_not_allowed' | 'key_cannot_dial' | null
  readonly policy_version: string
}

/** `+` and 4 to 15 digits 0-9, nothing else: a SIP URI, an extension or a space may hide where a call goes. */
const E164 = /^\+[1-9][0-9]{3,14}$/
const PREFIX = /^\+[1-9][0-9]{0,14}$/

/** Tariffs of an ordinary call. Premium rate, shared cost, personal numbers, pagers and voicemail are not. */
const ORDINARY: ReadonlySet<NumberType> = new Set([
  'FIXED_LINE',
  'MOBILE',
  'FIXED_LINE_OR_MOBILE',
  'VOIP',
  'TOLL_FREE',
  'UAN',
] as const)

/**
 * Whether a dial or transfer may go there: the one policy of every destination, also of one that a model inferred. Only
 * numbers that exist in their country's plan (which emergency and short codes do not), in countries that are allowed, at
 * ordinary tariffs; satellite and global services (+800, +870, +88x, +979) have no country and need a prefix.
 */
export function judgeDestination(destination: string, rules: DestinationRules): DestinationVerdict {
  if (!rules.mayDial) return denied('key_cannot_dial')
  const number = parsed(destination)
  const real = number?.isPossible() && number.isValid() && number.number === destination
  if (number === undefined || !real) return denied('destination_not_allowed')
  const byPrefix = rules.allowPrefixes?.some(prefix => PREFIX.test(prefix) && destination.startsWith(prefix))
  const type = number.getType()
  const allowed = byPrefix === true || (isOrdinary(type) && isInCountries(number, type, rules))
  return allowed
    ? { decision: 'allow', reason: null, policy_version: POLICY_VERSION }
    : denied('destination_not_allowed')
}

function isOrdinary(type: NumberType): boolean {
  return type !== undefined && ORDINARY.has(type)
}

function parsed(e164: string): PhoneNumber | undefined {
  return E164.test(e164) ? parsePhoneNumberFromString(e164, { extract: false }) : undefined
}

function isInCountries(
  number: PhoneNumber,
  type: NumberType,
  { allowedCountries, ownNumbers = [] }: DestinationRules,
): boolean {
  const countries = countriesOf(number, type)
  if (allowedCountries !== null) return allowedCountries.some(name => countries.includes(name.toUpperCase()))
  // Parsing takes a while: only those that may be of the same country, and no more than it needs.
  const code = `+${number.countryCallingCode}`
  return ownNumbers.some(own => own.startsWith(code) && sharesCountry(own, countries))
}

/** Most own numbers whose countries are remembered. */
const MAX_REMEMBERED = 1000
/** Countries of own numbers: an environment has few, and each of its calls asks for them. */
const remembered = new Map<string, readonly string[]>()

function sharesCountry(own: string, countries: readonly string[]): boolean {
  let its = remembered.get(own)
  if (its === undefined) {
    const number = parsed(own)
    its = number === undefined ? [] : countriesOf(number, number.getType())
    if (remembered.size >= MAX_REMEMBERED) remembered.clear()
    remembered.set(own, its)
  }
  return its.some(country => countries.includes(country))
}

function countriesOf(number: PhoneNumber, type: NumberType): readonly string[] {
  // The United States and Canada share their toll-free numbers, which the plan files under the first.
  if (number.countryCallingCode === '1' && type === 'TOLL_FREE') return ['US', 'CA']
  return number.country === undefined ? [] : [number.country]
}

function denied(reason: DestinationVerdict['reason']): DestinationVerdict {
  return { decision: 'deny', reason, policy_version: POLICY_VERSION }
}
