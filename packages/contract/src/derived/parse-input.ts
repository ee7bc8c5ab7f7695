import { jsonFault } from '@parley/nodes'
import type { z } from 'zod'
import type { Issue } from '../error-envelope.ts'
import type { Operation } from '../operation.ts'
import type { InputOf } from '../operation-types.ts'

/** The parts of a request as JSON; absent parts are `undefined`. */
export interface RawInput {
  readonly params?: unknown
  readonly query?: unknown
  readonly body?: unknown
  readonly idempotencyKey?: unknown
  /** What the sender calls the idempotency key. Default: `Idempotency-Key`, the header. */
  readonly idempotencyKeyName?: string
}

type ParsedInput<O extends Operation> =
  | { readonly ok: true; readonly input: InputOf<O>; readonly idempotencyKey: string | null }
  | { readonly ok: false; readonly issues: readonly Issue[] }

/** Maximum of reported issues. A caller with more of them can correct the first ones first. */
const MAX_ISSUES = 50
const MAX_MESSAGE = 512
const MAX_PATH = 1024

/**
 * Parses a request, of HTTP or of a tool. Refuses input that violates the schemas or, at any depth, contains what
 * {@link jsonFault} forbids. Params, query and body may be absent if none of their members is required.
 */
export function parseInput<O extends Operation>(operation: O, raw: RawInput): ParsedInput<O> {
  const issues: Issue[] = []
  const params = part(operation.params, raw.params, 'path', issues)
  const query = part(operation.query, raw.query, 'query', issues)
  const body = part(operation.body, raw.body, 'body', issues)
  const key = idempotencyKey(operation, raw, issues)
  if (issues.length > 0) return { ok: false, issues: issues.slice(0, MAX_ISSUES) }
  const input = { params, query, body } as InputOf<O>
  return { ok: true, input, idempotencyKey: key }
}

/** A key that the operation does not need is ignored. */
function idempotencyKey(
  { idempotencyKey: schema }: Operation,
  { idempotencyKey: raw, idempotencyKeyName: name = 'Idempotency-Key' }: RawInput,
  issues: Issue[],
): string | null {
  if (schema === null) return null
  if (raw !== undefined) return String(part(schema, raw, name, issues))
  issues.push(issue(name, [], 'is missing'))
  return null
}

function part(schema: z.ZodType | null, raw: unknown, place: string, issues: Issue[]): unknown {
  if (schema === null) {
    if (!isNothing(raw))
      for (const path of membersOf(raw))
        issues.push(issue(place, path, 'is not accepted by this operation; leave it out'))
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

/** Unknown members are one issue each, at their own path. */
function issuesAt(place: string, found: z.core.$ZodIssue, value: unknown): Issue[] {
  if (found.code !== 'unrecognized_keys') {
    const isMissing = found.code === 'invalid_type' && valueAt(value, found.path) === undefined
    return [issue(place, found.path, isMissing ? 'is missing' : found.message)]
  }
  return found.keys
    .slice(0, MAX_ISSUES)
    .map(name => issue(place, [...found.path, name], 'is not a known field; remove it or check the spelling'))
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce((at, name) => (at as Record<PropertyKey, unknown> | null | undefined)?.[name], value)
}

/** The paths of the members of `raw`, or its own path if it has none. */
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

/**
 * Shortens a text that contains names of the sender. Unpaired surrogates and U+0000 become U+FFFD, because responses
 * must not contain them.
 */
function cut(text: string, length: number): string {
  return text.slice(0, length).toWellFormed().replaceAll('\0', '\uFFFD')
}

/** The JSON pointer (RFC 6901) of a path. */
export function jsonPointer(path: readonly PropertyKey[]): string {
  return path.map(name => `/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}
