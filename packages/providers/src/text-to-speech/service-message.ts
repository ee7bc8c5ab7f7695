/** Bounded reading of what services send: whatever is not of the form that is asked for is null. */

/** Words, characters and their times in one message. */
const MAX_ITEMS = 10_000

export function stringIn(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

/** At most 200 characters: for messages to people. */
export function errorTextIn(...values: readonly unknown[]): string {
  const prose = values.find(value => typeof value === 'string' && value !== '')
  return typeof prose === 'string' ? prose.slice(0, 200) : ''
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

/** Base64; null for anything but a string with something in it. */
export function bytesIn(value: unknown): Uint8Array | null {
  const bytes = typeof value === 'string' ? Buffer.from(value, 'base64') : null
  return bytes !== null && bytes.length > 0 ? bytes : null
}
