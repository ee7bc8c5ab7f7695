import type { Json } from '@parley/contract'

export type JsonObject = { [name: string]: Json }

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value where it is an object, else an empty object. */
export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}

/** The member of that name; undefined where it is absent or null. */
export function given(source: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(source, name) ? (source[name] ?? undefined) : undefined
}

/** Whether two JSON values are equal, regardless of the order of members. */
export function equal(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (Array.isArray(a))
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => equal(item, b[index]))
  if (!isObject(a) || !isObject(b)) return false
  const names = Object.keys(a)
  return (
    names.length === Object.keys(b).length && names.every(name => Object.hasOwn(b, name) && equal(a[name], b[name]))
  )
}

/** A string of an export, shortened for a message. */
export function shown(text: string): string {
  const characters = [...text.slice(0, 200)]
  return characters.length > 80 ? `${characters.slice(0, 80).join('')}…` : text
}
