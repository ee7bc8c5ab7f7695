import { spanishBeforeNoun, spanishCardinal } from './spanish-numbers.ts'
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

const DIGITS = 'cero uno dos tres cuatro cinco seis siete ocho nueve'.split(' ')
const MONTHS = 'enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre'.split(' ')
const CURRENCIES: Readonly<Record<string, readonly [one: string, many: string]>> = {
  $: ['dólar', 'dólares'],
  '€': ['euro', 'euros'],
  '£': ['libra', 'libras'],
}
const ORDINALS = ['', 'primer', 'segund', 'tercer', 'cuart', 'quint', 'sext', 'séptim', 'octav', 'noven', 'décim']
const ABBREVIATIONS: Readonly<Record<string, string>> = {
  'sr.': 'señor',
  'sra.': 'señora',
  'srta.': 'señorita',
  'dr.': 'doctor',
  'dra.': 'doctora',
  'd.': 'don',
  'dña.': 'doña',
  'ud.': 'usted',
  'uds.': 'ustedes',
  'avda.': 'avenida',
  'av.': 'avenida',
  'c/': 'calle',
  'pza.': 'plaza',
  'núm.': 'número',
  'n.º': 'número',
  nº: 'número',
  'tel.': 'teléfono',
  'aprox.': 'aproximadamente',
  'etc.': 'etcétera',
  'p.ej.': 'por ejemplo',
  '&': 'y',
}
const AMOUNT = String.raw`(\d{1,3}(?:\.\d{3})+|\d+)(?:,(\d{2}))?`

/** What a Spanish voice is given instead of the written text, the most specific rule first. */
export const SPANISH_RULES: readonly SpokenRule[] = [
  addressRule({ '@': 'arroba', '.': 'punto', _: 'guion bajo', '-': 'guion' }),
  rule(String.raw`${AMOUNT}\s?([$€£])`, ([, whole, cents, sign]) => money(sign!, whole!, cents)),
  rule(String.raw`([$€£])\s?${AMOUNT}`, ([, sign, whole, cents]) => money(sign!, whole!, cents)),
  rule(String.raw`(\d{4})-(\d{2})-(\d{2})`, ([, year, month, day]) => date(Number(day), Number(month), year!)),
  rule(String.raw`(\d{1,2})/(\d{1,2})/(\d{4})`, ([, day, month, year]) => date(Number(day), Number(month), year!)),
  rule(String.raw`(\d{1,2}):(\d{2})(?:\s?h)?`, ([, hour, minute]) => time(Number(hour), Number(minute))),
  rule(TELEPHONE, ([number]) => telephone(number)),
  rule(String.raw`(-?\d[\d.]*(?:,\d+)?)\s?%`, ([, number]) => `${numberWords(number!)} por ciento`),
  rule(String.raw`(\d{1,2})\.?([ºª])`, ([, number, gender]) => ordinal(Number(number), gender === 'º' ? 'o' : 'a')),
  rule(String.raw`-?(?:\d{1,3}(?:\.\d{3})+|\d+)(?:,\d+)?`, ([number]) => numberWords(number)),
  {
    pattern:
      /(?<![\p{L}\p{N}])(?:(?:sr|sra|srta|dra?|d|dña|uds?|avda?|av|pza|núm|tel|aprox|etc|p\.ej)\.|c\/|n\.?º|&)(?![\p{N}])/giu,
    spoken: ([text]) => ABBREVIATIONS[text.toLowerCase()] ?? null,
  },
]

function numberWords(text: string): string {
  const [whole = '', fraction] = text.replace(/[-.]/g, '').split(',')
  const sign = text.startsWith('-') ? 'menos ' : ''
  const isDictated = (whole.length > 1 && whole.startsWith('0')) || Number(whole) > LARGEST
  const words = isDictated ? digitByDigit([whole], DIGITS) : spanishCardinal(Number(whole))
  return sign + words + (fraction === undefined ? '' : ` coma ${fractionWords(fraction)}`)
}

function fractionWords(fraction: string): string {
  return fraction.startsWith('0') || fraction.length > 2
    ? digitByDigit([fraction], DIGITS)
    : spanishCardinal(Number(fraction))
}

function money(sign: string, whole: string, cents: string | undefined): string | null {
  const amount = Number(whole.replaceAll('.', ''))
  const currency = CURRENCIES[sign]
  if (currency === undefined || amount > LARGEST) return null
  const isPound = sign === '£'
  const count = isPound ? spanishCardinal(amount).replace(/uno$/, 'una') : spanishBeforeNoun(amount)
  const of = amount >= 1e6 && amount % 1e6 === 0 ? ' de' : ''
  const units = `${count}${of} ${amount === 1 ? currency[0] : currency[1]}`
  const small = Number(cents ?? 0)
  if (small === 0) return units
  const rest = `${spanishBeforeNoun(small)} ${small === 1 ? 'céntimo' : 'céntimos'}`
  return amount === 0 ? rest : `${units} con ${rest}`
}

function date(day: number, month: number, year: string): string | null {
  if (!isDate(day, month)) return null
  const dayWords = day === 1 ? 'uno' : spanishCardinal(day)
  return `${dayWords} de ${MONTHS[month - 1]} de ${spanishCardinal(Number(year))}`
}

function time(hour: number, minute: number): string | null {
  if (hour > 24 || minute > 59) return null
  const hours = hour === 1 ? 'una' : spanishCardinal(hour).replace(/uno$/, 'una')
  if (minute === 0) return `${hours} en punto`
  if (minute === 15) return `${hours} y cuarto`
  return minute === 30 ? `${hours} y media` : `${hours} y ${spanishCardinal(minute)}`
}

function ordinal(value: number, ending: 'o' | 'a'): string | null {
  const stem = ORDINALS[value]
  return stem === undefined || stem === '' ? null : stem + ending
}

function telephone(number: string): string {
  return (number.startsWith('+') ? 'más ' : '') + digitByDigit(digitGroups(number), DIGITS)
}
