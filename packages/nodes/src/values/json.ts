import { z } from 'zod'
import { isWellFormed } from './text.ts'

export type Json = string | number | boolean | null | Json[] | { [name: string]: Json }

/** Maximum nesting of arrays and objects in a body. */
const MAX_JSON_DEPTH = 64

/** Maximum number of members of one object: a schema looks at every member before it refuses the object. */
const MAX_JSON_MEMBERS = 10_000

/** Any JSON value of bounded depth whose strings and names are well-formed, as `text` demands. */
export const json = z.unknown().superRefine(report) as unknown as z.ZodType<Json, Json>

/** A JSON object whose members the API does not interpret. */
export const jsonObject = z.record(z.string(), z.unknown()).superRefine(report) as unknown as z.ZodType<
  Record<string, Json>,
  Record<string, Json>
>

/** A map from names to strings with at most `max` entries. */
export function stringMap<Key extends z.ZodType<string, string>>(key: Key, value: z.ZodString, max?: number) {
  const map = z.record(key, value)
  return max === undefined
    ? map
    : map.refine(entries => Object.keys(entries).length <= max, `more than ${max} entries`).meta({ maxProperties: max })
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
 * The first part of `value` that no body may contain: a value that is not JSON, nesting deeper than {@link MAX_JSON_DEPTH},
 * an object with more than {@link MAX_JSON_MEMBERS} members, a string or name with U+0000 or a lone surrogate, the name `__proto__`.
 * Null: there is none.
 */
export function jsonFault(value: unknown, path: readonly (string | number)[] = []): JsonFault | null {
  if (typeof value === 'string')
    return isWellFormed(value) ? null : { path, message: 'contains U+0000 or a lone surrogate' }
  if (value === null || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))) return null
  if (path.length >= MAX_JSON_DEPTH) return { path, message: `nested deeper than ${MAX_JSON_DEPTH} levels` }
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
    if (!isWellFormed(name)) return { path, message: 'a name contains U+0000 or a lone surrogate' }
    if (name === '__proto__') return { path, message: 'the name __proto__ is reserved' }
  }
  return null
}

function firstFault(
  entries: Iterable<[string | number, unknown]>,
  path: readonly (string | number)[],
): JsonFault | null {
  for (const [name, value] of entries) {
    // Most values of a body are scalars: a path is built for one only when it is at fault.
    if (typeof value === 'object' ? value === null : isValidScalar(value)) continue
    const fault = jsonFault(value, [...path, name])
    if (fault !== null) return fault
  }
  return null
}

function isValidScalar(value: unknown): boolean {
  return typeof value === 'boolean' || Number.isFinite(value) || (typeof value === 'string' && isWellFormed(value))
}
