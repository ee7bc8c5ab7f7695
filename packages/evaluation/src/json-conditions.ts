import type { JsonCondition } from '@parley/contract'
import { canonicalJson } from '@parley/kernel'
import { RE2JS } from 're2js'

/** An operator and the value that it compares with. */
export type Comparison = Pick<JsonCondition, 'op'> & { readonly value?: unknown }

/** Whether all conditions hold for `value`, the arguments of an action. */
export function allHold(conditions: readonly JsonCondition[], value: unknown): boolean {
  return conditions.every(condition => compares(condition, memberAt(value, condition.path)))
}

/** Whether `found` (undefined: there is none) compares as the operator says. */
export function compares({ op, value }: Comparison, found: unknown): boolean {
  switch (op) {
    case 'exists':
      return found !== undefined
    case 'absent':
      return found === undefined
    case 'equals':
      return isSame(found, value)
    case 'one_of':
      return Array.isArray(value) && value.some(one => isSame(found, one))
    case 'contains':
      return found !== undefined && containsText(textOf(found), String(value))
    case 'regex':
      return found !== undefined && matchesPattern(textOf(found), String(value))
    case 'number_range':
      return isInRange(found, value as { readonly min?: number; readonly max?: number })
  }
}

/** Whether the text has the words of `part`, in any case. */
export function containsText(text: string, part: string): boolean {
  return text.toLowerCase().includes(part.toLowerCase())
}

/** Whether the pattern (RE2 syntax) matches anywhere in the text, in any case; linear in the length of the text. */
export function matchesPattern(text: string, pattern: string): boolean {
  return RE2JS.compile(pattern, RE2JS.CASE_INSENSITIVE).matcher(text).find()
}

/** Why the pattern is none of RE2; null: it is one. */
export function patternFault(pattern: string): string | null {
  try {
    RE2JS.compile(pattern)
    return null
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function memberAt(value: unknown, path: string): unknown {
  if (path === '') return value
  let member = value
  for (const name of path.split('/')) {
    if (typeof member !== 'object' || member === null || !Object.hasOwn(member, name)) return undefined
    member = (member as Readonly<Record<string, unknown>>)[name]
  }
  return member
}

function isSame(one: unknown, other: unknown): boolean {
  if (one === undefined || other === undefined) return one === other
  return canonicalJson(one) === canonicalJson(other)
}

function isInRange(found: unknown, { min, max }: { readonly min?: number; readonly max?: number }): boolean {
  const number = typeof found === 'string' && found.trim() !== '' ? Number(found) : found
  if (typeof number !== 'number' || Number.isNaN(number)) return false
  return (min === undefined || number >= min) && (max === undefined || number <= max)
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
