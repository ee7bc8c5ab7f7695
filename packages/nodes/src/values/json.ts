import { z } from 'zod'
import { isWellFormed } from './text.ts'

export type Json = string | number | boolean | null | Json[] | { [name: string]: Json }

/** How deep arrays and objects stand in one another in a body. */
const MAX_JSON_DEPTH = 64

/** How many members one object has at most: schemas look at each before they refuse one. */
const MAX_JSON_MEMBERS = 10_000

/** Any JSON value of bounded depth; its strings and names are held to what `text` holds. */
export const json = z.unknown().superRefine(report) as unknown as z.ZodType<Json, Json>

/** A JSON object that the API does not look into. */
export const jsonObject = z.record(z.string(), z.unknown()).superRefine(report) as unknown as z.ZodType<
  Record<string, Json>,
  Record<string, Json>
>

/** A map of at most `max` names to strings. */
export function stringMap<Key extends z.ZodType<string, string>>(key: Key, value: z.ZodString, max?: number) {
  const map = z.record(key, value)
  return max === undefined
    ? map
    : map.refine(held => Object.keys(held).length <= max, `more than ${max} entries`).meta({ maxProperties: max })
}

function report(value: unknown, context: z.RefinementCtx): void {
  const fault = jsonFault(value)
  if (fault !== null) context.addIssue({ code: 'custom', path: [...fault.path], message: fault.message })
}

interface JsonFault {
  readonly path: readonly (string | number)[]
  readonly message: string
}

/**
 * The first thing in `value` that no body may hold: something that is not JSON, arrays and objects deeper than
 * {@link MAX_JSON_DEPTH}, an object with more than {@link MAX_JSON_MEMBERS} members, a string or name with U+0000 or half a surrogate pair, the name `__proto__`.
 */
export function jsonFault(value: unknown, path: readonly (string | number)[] = []): JsonFault | null {
  if (typeof value === 'string')
    return isWellFormed(value) ? null : { path, message: 'holds U+0000 or half a surrogate pair' }
  if (value === null || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))) return null
  if (path.length >= MAX_JSON_DEPTH) return { path, message: `deeper than ${MAX_JSON_DEPTH}` }
  if (Array.isArray(value)) return firstFault(value.entries(), path)
  if (typeof value === 'object' && isPlain(value))
    return nameFault(value, path) ?? firstFault(Object.entries(value), path)
  return { path, message: 'not JSON' }
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

function nameFault(value: object, path: readonly (string | number)[]): JsonFault | null {
  const names = Object.keys(value)
  if (names.length > MAX_JSON_MEMBERS) return { path, message: `more than ${MAX_JSON_MEMBERS} members` }
  for (const name of names) {
    if (!isWellFormed(name)) return { path, message: 'a name holds U+0000 or half a surrogate pair' }
    if (name === '__proto__') return { path, message: 'the name __proto__ is not taken' }
  }
  return null
}

function firstFault(
  entries: Iterable<[string | number, unknown]>,
  path: readonly (string | number)[],
): JsonFault | null {
  for (const [name, value] of entries) {
    // Scalars are most of a body: no path is built for them unless one is at fault.
    if (typeof value === 'object' ? value === null : isSoundScalar(value)) continue
    const fault = jsonFault(value, [...path, name])
    if (fault !== null) return fault
  }
  return null
}

function isSoundScalar(value: unknown): boolean {
  return typeof value === 'boolean' || Number.isFinite(value) || (typeof value === 'string' && isWellFormed(value))
}
