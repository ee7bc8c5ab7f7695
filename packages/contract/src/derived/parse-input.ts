import { jsonFault } from '@parley/nodes'
import type { z } from 'zod'
import type { Issue } from '../error-envelope.ts'
import type { Operation } from '../operation.ts'
import type { InputOf } from '../operation-types.ts'

/** What came for an operation, as JSON; `undefined` where nothing came. */
export interface RawInput {
  readonly params?: unknown
  readonly query?: unknown
  readonly body?: unknown
  readonly idempotencyKey?: unknown
}

export type ParsedInput<O extends Operation> =
  | { readonly ok: true; readonly input: InputOf<O>; readonly idempotencyKey: string | null }
  | { readonly ok: false; readonly issues: readonly Issue[] }

/** More than these are not reported: whoever sends thousands of faults mends the first ones first. */
const MAX_ISSUES = 50
const MAX_MESSAGE = 512
const MAX_PATH = 1024

/**
 * The one parser of requests, for HTTP and tools alike. Refuses what the schemas refuse and, anywhere in the input,
 * what no body may hold. A body whose members may all be left out may be left out; so may parameters and query.
 */
export function parseInput<O extends Operation>(operation: O, raw: RawInput): ParsedInput<O> {
  const issues: Issue[] = []
  const params = part(operation.params, raw.params, 'path', issues)
  const query = part(operation.query, raw.query, 'query', issues)
  const body = part(operation.body, raw.body, 'body', issues)
  const key = part(operation.idempotencyKey, raw.idempotencyKey, 'Idempotency-Key', issues)
  if (issues.length > 0) return { ok: false, issues: issues.slice(0, MAX_ISSUES) }
  const input = { params, query, body } as InputOf<O>
  return { ok: true, input, idempotencyKey: operation.idempotencyKey === null ? null : String(key) }
}

function part(schema: z.ZodType | null, raw: unknown, place: string, issues: Issue[]): unknown {
  if (schema === null) {
    // A key where none is required is ignored; anything else that an operation does not take is a mistake.
    if (place !== 'Idempotency-Key' && !isNothing(raw))
      for (const path of membersOf(raw)) issues.push(issue(place, path, 'takes nothing'))
    return null
  }
  if (raw === undefined && place === 'Idempotency-Key') {
    issues.push(issue(place, [], 'is missing'))
    return null
  }
  const value = raw === undefined ? {} : raw
  const fault = jsonFault(value)
  if (fault !== null) {
    issues.push(issue(place, fault.path, fault.message))
    return null
  }
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  if (raw === undefined && place === 'body') issues.push(issue(place, [], 'is missing'))
  else for (const found of parsed.error.issues.slice(0, MAX_ISSUES)) issues.push(...issuesAt(place, found, value))
  return null
}

/** What is not known has a place of its own, as what is missing has. */
function issuesAt(place: string, found: z.core.$ZodIssue, value: unknown): Issue[] {
  if (found.code !== 'unrecognized_keys') {
    const isMissing = found.code === 'invalid_type' && valueAt(value, found.path) === undefined
    return [issue(place, found.path, isMissing ? 'is missing' : found.message)]
  }
  return found.keys.slice(0, MAX_ISSUES).map(name => issue(place, [...found.path, name], 'is not known'))
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce((at, name) => (at as Record<PropertyKey, unknown> | null | undefined)?.[name], value)
}

/** The paths of what stands in something that should not be there; its own where it has no members. */
function membersOf(raw: unknown): string[][] {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return [[]]
  return Object.keys(raw)
    .slice(0, MAX_ISSUES)
    .map(name => [name])
}

function isNothing(raw: unknown): boolean {
  return raw === undefined || (typeof raw === 'object' && raw !== null && Object.keys(raw).length === 0)
}

function issue(place: string, path: readonly PropertyKey[], message: string): Issue {
  return { path: cut(jsonPointer(path), MAX_PATH), message: cut(`${place}: ${message}`, MAX_MESSAGE) }
}

/** Names are the sender's: what no answer may hold, and half of a character where one is cut, is U+FFFD. */
function cut(words: string, length: number): string {
  return words.slice(0, length).toWellFormed().replaceAll('\0', '\uFFFD')
}

/** RFC 6901. */
export function jsonPointer(path: readonly PropertyKey[]): string {
  return path.map(name => `/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}
