import { type JsonSchema, jsonPointer } from '@parley/contract'
import type { SchemaValues } from './json-schema-values.ts'

/** A value that must be refused, and the JSON pointer that the refusal must name. */
export interface Broken {
  readonly value: unknown
  readonly path: string
  readonly how: string
}

/** Every way to break `valid` just outside one bound of its schema: one fault each. */
export function* brokenValues(values: SchemaValues, valid: unknown): Generator<Broken> {
  yield* broken(values, values.root, valid, '', replaced => replaced)
}

type Rebuild = (part: unknown) => unknown

function* broken(
  values: SchemaValues,
  schema: JsonSchema,
  valid: unknown,
  path: string,
  rebuild: Rebuild,
): Generator<Broken> {
  const of = values.resolved(schema)
  const fault = (part: unknown, how: string, at = path): Broken => ({ value: rebuild(part), path: at, how })
  // The error in a union may be reported at the union itself, so its members are not broken.
  if (of.anyOf !== undefined || of.oneOf !== undefined) return
  if (of.enum !== undefined) yield fault('no-such-word', 'not of the list')
  if (of.const !== undefined || of.enum !== undefined) return
  if (of.type === 'string') {
    yield fault(5, 'a number for a string')
    yield fault('a\0', 'U+0000')
    if (typeof of.maxLength === 'number') yield fault('\u{1f600}'.repeat(of.maxLength + 1), 'too long')
    if (typeof of.minLength === 'number' && of.minLength > 0) yield fault('', 'too short')
    if (typeof of.pattern === 'string' && !new RegExp(of.pattern, 'u').test('\n')) yield fault('\n', 'no match')
    if (of.format !== undefined) yield fault('no such thing', `no ${String(of.format)}`)
  }
  if (of.type === 'integer' || of.type === 'number') {
    yield fault('5', 'a string for a number')
    if (typeof of.minimum === 'number') yield fault(of.minimum - 1, 'too low')
    if (typeof of.maximum === 'number') yield fault(of.maximum + 1, 'too high')
    if (of.type === 'integer') yield fault(Number(of.minimum ?? 0) + 0.5, 'no integer')
  }
  if (of.type === 'boolean') yield fault('yes', 'a string for a boolean')
  if (of.type === 'array') yield* brokenArray(values, of, valid, path, rebuild)
  if (of.type === 'object') yield* brokenObject(values, of, valid, path, rebuild)
}

function* brokenArray(
  values: SchemaValues,
  of: JsonSchema,
  valid: unknown,
  path: string,
  rebuild: Rebuild,
): Generator<Broken> {
  if (!Array.isArray(valid)) return
  yield { value: rebuild({}), path, how: 'an object for a list' }
  if (typeof of.minItems === 'number' && of.minItems > 0) yield { value: rebuild([]), path, how: 'too few' }
  if (typeof of.maxItems === 'number' && valid.length > 0 && of.uniqueItems !== true)
    yield { value: rebuild(Array.from({ length: of.maxItems + 1 }, () => valid[0])), path, how: 'too many' }
  for (const [index, item] of valid.entries()) {
    const within: Rebuild = part => rebuild(valid.with(index, part))
    yield* broken(values, (of.items ?? {}) as JsonSchema, item, `${path}/${index}`, within)
  }
}

function* brokenObject(
  values: SchemaValues,
  of: JsonSchema,
  valid: unknown,
  path: string,
  rebuild: Rebuild,
): Generator<Broken> {
  if (typeof valid !== 'object' || valid === null || Array.isArray(valid)) return
  const members = valid as Record<string, unknown>
  yield { value: rebuild([]), path, how: 'a list for an object' }
  if (of.additionalProperties === false)
    yield {
      value: rebuild({ ...members, no_such_member: 1 }),
      path: `${path}/no_such_member`,
      how: 'a member that is not known',
    }
  for (const name of (of.required ?? []) as string[]) {
    const { [name]: _, ...rest } = members
    yield { value: rebuild(rest), path: `${path}/${name}`, how: 'missing' }
  }
  for (const [name, member] of Object.entries((of.properties ?? {}) as Record<string, JsonSchema>)) {
    if (!(name in members)) continue
    const within: Rebuild = part => rebuild({ ...members, [name]: part })
    yield* broken(values, member, members[name], path + jsonPointer([name]), within)
  }
}
