const ONES =
  `cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete
  dieciocho diecinueve veinte veintiuno veintidós veintitrés veinticuatro veinticinco veintiséis veintisiete veintiocho
  veintinueve`.split(/\s+/)
const TENS = ['', '', '', 'treinta', 'cuarenta', 'cincuenta', 'sesenta', 'setenta', 'ochenta', 'noventa']
const HUNDREDS = `ciento doscientos trescientos cuatrocientos quinientos seiscientos setecientos ochocientos
  novecientos`.split(/\s+/)

/** A whole number from 0 to 999 billion (10^12) in words: 1042 is "mil cuarenta y dos". */
export function spanishCardinal(value: number): string {
  if (value < 30) return ONES[value]!
  if (value < 100) {
    const ones = value % 10
    return `${TENS[Math.floor(value / 10)]}${ones === 0 ? '' : ` y ${ONES[ones]}`}`
  }
  if (value === 100) return 'cien'
  if (value < 1000) return joined(HUNDREDS[Math.floor(value / 100) - 1]!, value % 100)
  if (value < 2000) return joined('mil', value % 1000)
  if (value < 1e6) return joined(`${spanishBeforeNoun(Math.floor(value / 1000))} mil`, value % 1000)
  if (value < 2e6) return joined('un millón', value % 1e6)
  if (value < 1e12) return joined(`${spanishBeforeNoun(Math.floor(value / 1e6))} millones`, value % 1e6)
  return joined(value < 2e12 ? 'un billón' : `${spanishBeforeNoun(Math.floor(value / 1e12))} billones`, value % 1e12)
}

/** As before a masculine noun: 1 is "un", 21 "veintiún", 31 "treinta y un". */
export function spanishBeforeNoun(value: number): string {
  return spanishCardinal(value)
    .replace(/veintiuno$/, 'veintiún')
    .replace(/(^| )uno$/, '$1un')
}

function joined(head: string, rest: number): string {
  return rest === 0 ? head : `${head} ${spanishCardinal(rest)}`
}
