import { parseIpNetwork } from '@parley/sip'
import { UsageError } from '../usage.ts'

/** The word that resets a value to its default. */
export const DEFAULT = 'default'

const MAX_LISTED = 250
/** Regions with a name in CLDR that are not countries. */
const NO_COUNTRIES = new Set(['EU', 'EZ', 'UN', 'XA', 'XB', 'QO', 'ZZ'])
const regions = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })

/** Reads the value of `flag`. Like all functions here it throws a `UsageError` that names the flag and its valid values. */
export function wholeNumber(flag: string, text: string | undefined, min: number, max: number): number {
  const value = text !== undefined && /^(0|[1-9][0-9]{0,9})$/.test(text) ? Number(text) : Number.NaN
  if (!(value >= min && value <= max)) throw invalid(flag, `takes a whole number, ${min} to ${max}`, text)
  return value
}

export function oneOf<const Word extends string>(flag: string, text: string | undefined, words: readonly Word[]): Word {
  const word = words.find(word => word === text)
  if (word === undefined) throw invalid(flag, `takes ${words.join(' or ')}`, text)
  return word
}

/** 1 to `max` characters, none of them a control character, white space only inside. */
export function words(flag: string, text: string | undefined, max: number): string {
  const isValid = text?.isWellFormed() && !/\p{Cc}/u.test(text) && text.trim() === text
  if (!isValid || text === '' || [...text].length > max) throw invalid(flag, `takes 1 to ${max} characters`, text)
  return text
}

/** An ISO 3166 code such as DE, in either case. */
export function country(flag: string, text: string): string {
  const code = text.toUpperCase()
  if (!/^[A-Z]{2}$/.test(code) || NO_COUNTRIES.has(code) || regions.of(code) === undefined)
    throw invalid(flag, 'takes countries as two-letter codes, such as US,DE', text)
  return code
}

/** A prefix of E.164 numbers: `+49180`. */
export function numberPrefix(flag: string, text: string): string {
  if (!/^\+[1-9][0-9]{0,14}$/.test(text)) throw invalid(flag, 'takes the beginning of a number, such as +49180', text)
  return text
}

/** An address or a network: `192.0.2.7`, `192.0.2.0/24`. */
export function network(flag: string, text: string): string {
  const parsed = parseIpNetwork(text)
  if (parsed === undefined || parsed.prefixBits === 0)
    throw invalid(flag, 'takes addresses or networks, such as 192.0.2.7,198.51.100.0/24', text)
  return text
}

/** The values of a flag that is given several times or with commas, in their order, without duplicates. */
export function listed(
  flag: string,
  texts: readonly string[],
  read: (flag: string, text: string) => string,
): readonly string[] {
  const parts = texts.flatMap(text => text.split(',')).map(part => part.trim())
  if (parts.length > MAX_LISTED) throw new UsageError(`${flag} takes at most ${MAX_LISTED} values`)
  return [...new Set(parts.map(part => read(flag, part)))]
}

function invalid(flag: string, what: string, text: string | undefined): UsageError {
  return new UsageError(
    text === undefined ? `${flag} ${what}` : `${flag} ${what}, not ${JSON.stringify(text.slice(0, 100))}`,
  )
}
