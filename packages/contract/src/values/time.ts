import { z } from 'zod'

const FIRST = Date.parse('0001-01-01T00:00:00.000Z')
const LAST = Date.parse('9999-12-31T23:59:59.999Z')

/**
 * A date-time in a request: RFC 3339 with any offset, `Z` included, in the years 1 to 9999. Comes out in UTC: databases
 * know fewer offsets than the RFC allows.
 */
export const instant = z.iso
  .datetime({ offset: true })
  .max(64)
  .refine(value => Date.parse(value) >= FIRST && Date.parse(value) <= LAST, 'must be in the years 1 to 9999')
  .overwrite(inUtc)

/** A date-time in a response: UTC, milliseconds, `Z`. */
export const timestamp = z.iso.datetime({ precision: 3 })

/** Offsets are whole minutes: every digit of a second stays. */
function inUtc(text: string): string {
  const ms = Date.parse(text)
  if (Number.isNaN(ms)) return text
  const finer = /\.[0-9]{3}([0-9]+)/.exec(text)?.[1] ?? ''
  return new Date(ms).toISOString().replace('Z', `${finer}Z`)
}
