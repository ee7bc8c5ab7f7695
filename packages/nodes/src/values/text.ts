import { z } from 'zod'

/**
 * A string of `min` to `max` Unicode code points. U+0000 and lone surrogates are refused: Postgres cannot store the one and
 * UTF-8 cannot encode the other. Without `max` only the size of the body bounds the string.
 */
export function text(min: number, max = Number.POSITIVE_INFINITY): z.ZodString {
  const bounds = max === Number.POSITIVE_INFINITY ? `at least ${min}` : `${min} to ${max}`
  return z
    .string()
    .refine(isWellFormed, ILL_FORMED)
    .refine(value => hasLength(value, min, max), `not ${bounds} characters`)
    .meta({ ...(min > 0 && { minLength: min }), ...(max !== Number.POSITIVE_INFINITY && { maxLength: max }) })
}

const ILL_FORMED = 'contains U+0000 or a lone surrogate'

export function isWellFormed(value: string): boolean {
  return !value.includes('\0') && value.isWellFormed()
}

function hasLength(value: string, min: number, max: number): boolean {
  // A code point is one or two UTF-16 units, so the length of most strings decides without a count.
  if (value.length < min || value.length > 2 * max) return false
  if (value.length <= max && value.length >= 2 * min) return true
  let count = 0
  for (const _ of value) count++
  return count >= min && count <= max
}

/** A string with at least one character that is not white space. */
export const notBlank = text(1).regex(/\S/, 'must not be blank')

/**
 * An absolute URI of at most `max` characters, with one of `schemes` where they are given. White space is refused: URL
 * parsers drop it around a URI and line breaks even inside, but other readers of the stored URI may not.
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

/** A decimal number as text, never a float: no sign, no leading zeros, at most 12 digits after the point. */
export const decimal = z
  .string()
  .regex(
    /^(0|[1-9][0-9]*)(\.[0-9]{1,12})?$/,
    'a decimal such as "12.50", not negative, at most 12 digits after the point',
  )
