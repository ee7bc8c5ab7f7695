import { z } from 'zod'

/**
 * Converts path and query parameters, which are text. Values become numbers or booleans where the schema expects them;
 * values that cannot be converted stay text, so the schema refuses them. A repeated name becomes
 * a list, which no schema of this API accepts.
 */
export function fromText(schema: z.ZodObject, entries: Iterable<readonly [string, string]>): Record<string, unknown> {
  const read = new Map<string, unknown>()
  for (const [name, value] of entries) {
    const typed = Object.hasOwn(schema.shape, name) ? readAs(schema.shape[name], value) : value
    const before = read.get(name)
    read.set(name, read.has(name) ? [before, typed] : typed)
  }
  return Object.fromEntries(read)
}

/** The inverse of {@link fromText}: undefined members are left out. */
export function toText(values: Readonly<Record<string, unknown>>): [string, string][] {
  return Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]))
}

function readAs(schema: z.core.$ZodType | undefined, value: string): unknown {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) return readAs(schema.unwrap(), value)
  // Only plain digits: Number() also accepts "1e3", "0x10", " 7" and "". Up to 16 digits are exact or fail the schema's safe range.
  if (schema instanceof z.ZodNumber) return /^-?(0|[1-9][0-9]{0,15})$/.test(value) ? Number(value) : value
  if (schema instanceof z.ZodBoolean) return value === 'true' ? true : value === 'false' ? false : value
  return value
}
