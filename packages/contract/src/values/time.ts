import { z } from 'zod'

const FIRST = Date.parse('0001-01-01T00:00:00.000Z')
const LAST = Date.parse('9999-12-31T23:59:59.999Z')

/** A date-time in a request: RFC 3339 with any offset, `Z` included, in the years 1 to 9999. Kept as written. */
export const instant = z.iso
  .datetime({ offset: true })
  .max(64)
  .refine(value => Date.parse(value) >= FIRST && Date.parse(value) <= LAST, 'outside the years 1 to 9999')

/** A date-time in an answer: UTC, milliseconds, `Z`. */
export const timestamp = z.iso.datetime({ precision: 3 })
