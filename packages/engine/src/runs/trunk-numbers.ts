import type { InboundTrunk, TrunkDetails } from '@parley/store'
import { type CountryCode, isSupportedCountry, parsePhoneNumberFromString } from 'libphonenumber-js/max'
import type { NumberRules } from '../called-number.ts'
import { countryOf } from './trunk-details.ts'

/** What the notation of numbers on a trunk depends on. */
export type NumberingTrunk = Pick<InboundTrunk, 'details' | 'first_number'>

const E164 = /^\+[1-9][0-9]{3,14}$/

/** An E.164 number as the trunk's carrier expects it. A text that is no E.164 number is returned unchanged. */
export function writtenNumber(number: string, trunk: NumberingTrunk): string {
  const format = trunk.details.number_format_out ?? 'e164'
  if (format === 'e164' || !E164.test(number)) return number
  return format === 'digits' ? number.slice(1) : (dialledNumber(number, countryOf(trunk)) ?? number)
}

/** As {@link writtenNumber}, with the trunk's prefix for called numbers. */
export function writtenCalledNumber(number: string, trunk: NumberingTrunk): string {
  return `${trunk.details.prefix_out ?? ''}${writtenNumber(number, trunk)}`
}

/** How numbers of the trunk's inbound calls are read. */
export function numberRulesOf({ prefix_in, number_format_in }: TrunkDetails): NumberRules {
  return { prefix: prefix_in, format: number_format_in }
}

/** Digits as they are dialled in `country`; null: the country or the number's plan is unknown. */
function dialledNumber(number: string, country: string | null): string | null {
  const parsed = parsePhoneNumberFromString(number)
  if (parsed === undefined || country === null || !isSupportedCountry(country)) return null
  const written =
    parsed.country === country
      ? parsed.format('NATIONAL')
      : parsed.format('IDD', { fromCountry: country as CountryCode })
  return written.replaceAll(/[^0-9]/g, '')
}
