/** Digits after the point of every decimal of the API. */
const DIGITS = 12
const UNIT = 10n ** BigInt(DIGITS)
const DECIMAL = /^(0|[1-9][0-9]*)(?:\.([0-9]{1,12}))?$/

/** The decimal in units of 10^-12; undefined: the text is no decimal. */
export function decimalUnits(text: string): bigint | undefined {
  const [, whole, fraction = ''] = DECIMAL.exec(text) ?? []
  return whole === undefined ? undefined : BigInt(whole) * UNIT + BigInt(fraction.padEnd(DIGITS, '0'))
}

/** `part / total` as a decimal, truncated to 12 digits. */
export function fractionOf(part: number, total: number): string {
  const units = (BigInt(part) * UNIT) / BigInt(total)
  const fraction = (units % UNIT).toString().padStart(DIGITS, '0').replace(/0+$/, '')
  return fraction === '' ? String(units / UNIT) : `${units / UNIT}.${fraction}`
}
