import { z } from 'zod'

/**
 * Path arguments and query members come as text: numbers and booleans are read where the schema takes them, everything
 * else stays text, and what cannot be read stays as it is for the schema to refuse. A name that comes twice is kept as
 * a list, which no query of this API takes.
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

/** The other direction: absent members are left out. */
export function toText(values: Readonly<Record<string, unknown>>): [string, string][] {
  return Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]))
}

function readAs(schema: z.core.$ZodType | undefined, value: string): unknown {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) return readAs(schema.unwrap(), value)
  // Nothing but plain digits: not "1e3", "0x10", " 7" or "", which Number would take. 16 digits keep it exact or refused.
  if (schema instanceof z.ZodNumber) return /^-?(0|[1-9][0-9]{0,15})$/.test(value) ? Number(value) : value
  if (schema instanceof z.ZodBoolean) return value === 'true' ? true : value === 'false' ? false : value
  return value
}
