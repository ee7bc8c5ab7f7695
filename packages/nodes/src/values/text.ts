import { z } from 'zod'

/**
 * A string of `min` to `max` Unicode code points. U+0000 and lone surrogates are refused: neither a database nor
 * UTF-8 carries them. Without `max` only the size of the body bounds it.
 */
export function text(min: number, max = Number.POSITIVE_INFINITY): z.ZodString {
  const bounds = max === Number.POSITIVE_INFINITY ? `at least ${min}` : `${min} to ${max}`
  return z
    .string()
    .refine(isWellFormed, ILL_FORMED)
    .refine(value => hasLength(value, min, max), `not ${bounds} characters`)
    .meta({ ...(min > 0 && { minLength: min }), ...(max !== Number.POSITIVE_INFINITY && { maxLength: max }) })
}

const ILL_FORMED = 'holds U+0000 or half a surrogate pair'

export function isWellFormed(value: string): boolean {
  return !value.includes('\0') && value.isWellFormed()
}

function hasLength(value: string, min: number, max: number): boolean {
  // A code point is one or two units: most strings are judged without being counted.
  if (value.length < min || value.length > 2 * max) return false
  if (value.length <= max && value.length >= 2 * min) return true
  let count = 0
  for (const _ of value) count++
  return count >= min && count <= max
}

/** At least one character that is no white space. */
export const notBlank = text(1).regex(/\S/, 'must not be blank')

/**
 * An absolute URI of at most `max` characters, with one of `schemes` where some are named. No white space: parsers
 * forgive it around a URI and line breaks even inside, whoever reads it afterwards may not.
 */
export function uri(max = 2048, schemes?: readonly string[]): z.ZodString {
  const named = schemes === undefined ? 'an absolute URI' : `an absolute URI (${schemes.join(', ')})`
  return text(0, max)
    .refine(value => !/[\s\p{Cc}]/u.test(value) && URL.canParse(value), `not ${named}`)
    .refine(value => schemes?.some(scheme => value.toLowerCase().startsWith(`${scheme}://`)) ?? true, `not ${named}`)
    .meta({ format: 'uri' })
}

/** `+`, then 7 to 15 digits of which the first is not 0 (E.164). */
export const e164 = z.string().regex(/^\+[1-9][0-9]{6,14}$/, 'E.164: + and 7 to 15 digits')

/** Exact, never a float: no sign, no leading zeros, 1 to 12 digits after the point when there is one. */
export const decimal = z
  .string()
  .regex(
    /^(0|[1-9][0-9]*)(\.[0-9]{1,12})?$/,
    'a decimal such as "12.50", not negative, at most 12 digits after the point',
  )
