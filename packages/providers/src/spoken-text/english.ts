import { englishCardinal, englishOrdinal, englishYear } from './english-numbers.ts'
import {
  addressRule,
  digitByDigit,
  digitGroups,
  isDate,
  LARGEST,
  rule,
  type SpokenRule,
  TELEPHONE,
} from './spoken-rule.ts'

const DIGITS = 'zero one two three four five six seven eight nine'.split(' ')
const MONTHS = 'January February March April May June July August September October November December'.split(' ')
const MONTH_NAMES = `${MONTHS.join('|')}|Jan\\.?|Feb\\.?|Mar\\.?|Apr\\.?|Jun\\.?|Jul\\.?|Aug\\.?|Sept?\\.?|Oct\\.?|Nov\\.?|Dec\\.?`
const CURRENCIES: Readonly<Record<string, readonly [one: string, many: string, cent: string, cents: string]>> = {
  $: ['dollar', 'dollars', 'cent', 'cents'],
  '€': ['euro', 'euros', 'cent', 'cents'],
  '£': ['pound', 'pounds', 'penny', 'pence'],
}
const ABBREVIATIONS: Readonly<Record<string, string>> = {
  'dr.': 'Doctor',
  'mr.': 'Mister',
  'mrs.': 'Missus',
  'ms.': 'Miz',
  'prof.': 'Professor',
  'ave.': 'Avenue',
  'blvd.': 'Boulevard',
  'rd.': 'Road',
  'apt.': 'apartment',
  'dept.': 'department',
  'approx.': 'approximately',
  'appt.': 'appointment',
  'min.': 'minutes',
  'hrs.': 'hours',
  'etc.': 'et cetera',
  'e.g.': 'for example',
  'i.e.': 'that is',
  'vs.': 'versus',
  'ext.': 'extension',
  'tel.': 'telephone',
  'a.m.': 'A M',
  'p.m.': 'P M',
  '&': 'and',
}

/** What an English voice is given instead of the written text, the most specific rule first. */
export const ENGLISH_RULES: readonly SpokenRule[] = [
  addressRule({ '@': 'at', '.': 'dot', _: 'underscore', '-': 'dash' }),
  rule(String.raw`([$€£])\s?(\d{1,3}(?:,\d{3})+|\d+)(?:\.(\d{2}))?(?:\s(thousand|million|billion))?`, money),
  rule(String.raw`(\d{4})-(\d{2})-(\d{2})`, ([, year, month, day]) => date(Number(day), Number(month), year!)),
  rule(String.raw`(\d{1,2})/(\d{1,2})/(\d{4})`, ([, month, day, year]) => date(Number(day), Number(month), year!)),
  rule(String.raw`(${MONTH_NAMES})\s(\d{1,2})(?:st|nd|rd|th)?(?:,?\s(\d{4}))?`, ([, month, day, year]) => {
    const index = MONTHS.findIndex(name => name.startsWith(month!.slice(0, 3)))
    return date(Number(day), index + 1, year)
  }),
  rule(String.raw`(\d{1,2}):(\d{2})(?:\s?([ap])\.?m\b\.?)?`, time, 'i'),
  rule(String.raw`(\d{1,2})\s?([ap])\.?m\b\.?`, ([whole, hour, half]) => time([whole, hour, '00', half]), 'i'),
  rule(TELEPHONE, ([number]) => telephone(number)),
  rule(String.raw`(-?\d[\d,]*(?:\.\d+)?)\s?%`, ([, number]) => `${numberWords(number!)} percent`),
  rule(String.raw`(\d{1,6})(?:st|nd|rd|th)`, ([, number]) => englishOrdinal(Number(number))),
  rule(
    String.raw`((?:in|since|until|year|of)\s)(1[5-9]\d{2}|20\d{2})`,
    ([, word, year]) => word + englishYear(Number(year)),
  ),
  rule(String.raw`-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?`, ([number]) => numberWords(number)),
  // "Main St." is a street, "St. Mary" a saint.
  { pattern: /(?<![\p{L}\p{N}])St\.(?=\s\p{Lu})/gu, spoken: () => 'Saint' },
  { pattern: /(?<![\p{L}\p{N}])St\.(?![\p{L}\p{N}])/gu, spoken: () => 'Street' },
  {
    pattern:
      /(?<![\p{L}\p{N}])(?:(?:dr|mrs?|ms|prof|ave|blvd|rd|apt|dept|approx|appt|min|hrs|etc|vs|ext|tel|e\.g|i\.e|[ap]\.m)\.|&)(?![\p{L}\p{N}])/giu,
    spoken: ([text]) => ABBREVIATIONS[text.toLowerCase()] ?? null,
  },
]

function numberWords(text: string): string {
  const [whole = '', fraction] = text.replace(/[-,]/g, '').split('.')
  const sign = text.startsWith('-') ? 'minus ' : ''
  const isDictated = (whole.length > 1 && whole.startsWith('0')) || Number(whole) > LARGEST
  const words = isDictated ? digitByDigit([whole], DIGITS) : englishCardinal(Number(whole))
  return sign + words + (fraction === undefined ? '' : ` point ${digitByDigit([fraction], DIGITS)}`)
}

function money([, sign, whole, cents, scale]: readonly string[]): string | null {
  const amount = Number(whole!.replaceAll(',', ''))
  const currency = CURRENCIES[sign!]
  if (currency === undefined || amount > LARGEST) return null
  const [one, many, cent, centsName] = currency
  if (scale !== undefined) return `${numberWords(cents === undefined ? whole! : `${whole}.${cents}`)} ${scale} ${many}`
  const units = `${englishCardinal(amount)} ${amount === 1 ? one : many}`
  const small = Number(cents ?? 0)
  if (small === 0) return units
  const rest = `${englishCardinal(small)} ${small === 1 ? cent : centsName}`
  return amount === 0 ? rest : `${units} and ${rest}`
}

function date(day: number, month: number, year: string | undefined): string | null {
  if (!isDate(day, month)) return null
  return `${MONTHS[month - 1]} ${englishOrdinal(day)}${year === undefined ? '' : `, ${englishYear(Number(year))}`}`
}

function time([, hour, minute, half]: readonly (string | undefined)[]): string | null {
  const [hours, minutes] = [Number(hour), Number(minute)]
  if (hours > 24 || minutes > 59) return null
  const ofHalf = half === undefined ? '' : half.toLowerCase() === 'a' ? ' A M' : ' P M'
  if (minutes === 0)
    return `${englishCardinal(hours)}${ofHalf === '' ? (hours > 12 ? ' hundred hours' : " o'clock") : ofHalf}`
  return `${englishCardinal(hours)} ${minutes < 10 ? 'oh ' : ''}${englishCardinal(minutes)}${ofHalf}`
}

function telephone(number: string): string {
  return (number.startsWith('+') ? 'plus ' : '') + digitByDigit(digitGroups(number), DIGITS)
}
