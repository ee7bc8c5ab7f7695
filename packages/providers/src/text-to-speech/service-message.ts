/** Bounded parsing of the messages of services: a value of another form is null. */

/** Limit of the words, characters or times in one message. */
const MAX_ITEMS = 10_000

export function stringIn(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

/** The first text among `values`, at most 200 characters, for error texts; "" when there is none. */
export function errorTextIn(...values: readonly unknown[]): string {
  const text = values.find(value => typeof value === 'string' && value !== '')
  return typeof text === 'string' ? text.slice(0, 200) : ''
}

export function stringsIn(value: unknown): readonly string[] | null {
  if (!Array.isArray(value) || value.length > MAX_ITEMS) return null
  return value.every(item => typeof item === 'string') ? value : null
}

/** Numbers that are 0 or more. */
export function timesIn(value: unknown): readonly number[] | null {
  if (!Array.isArray(value) || value.length > MAX_ITEMS) return null
  return value.every(item => typeof item === 'number' && Number.isFinite(item) && item >= 0) ? value : null
}

/** The bytes of a base64 text; null for an empty text and for other values. */
export function bytesIn(value: unknown): Uint8Array | null {
  const bytes = typeof value === 'string' ? Buffer.from(value, 'base64') : null
  return bytes !== null && bytes.length > 0 ? bytes : null
}
