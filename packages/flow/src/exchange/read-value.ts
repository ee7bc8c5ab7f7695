import type { Json } from '@parley/contract'
import { z } from 'zod'
import type { ImportFindings } from './import-findings.ts'
import { isObject, type JsonObject, shown } from './json.ts'
import { normalised } from './normalise.ts'
import type { SourceLocation } from './source-location.ts'

type Schema = z.core.$ZodType
type Shape = Readonly<Record<string, Schema>>

/** Paths of fields that the source names differently; an empty path: the source does not have the field. */
export type FieldPaths = Readonly<Record<string, readonly string[]>>

/**
 * Reads the parts of `value` that `schema` accepts: known fields of objects and valid items of lists. Refused parts are
 * reported in `findings`. Undefined: no part of the value is valid.
 */
export function readValue(
  schema: Schema,
  value: Json,
  location: SourceLocation,
  findings: ImportFindings,
): Json | undefined {
  const source = normalised(schema, value, location)
  const { def } = (schema as z.core.$ZodTypes)._zod
  switch (def.type) {
    case 'optional':
    case 'nullable':
    case 'default':
    case 'prefault':
      return readValue(def.innerType, source, location, findings)
    case 'object':
      return isObject(source) ? readObject(schema as z.core.$ZodObject, source, location, findings) : undefined
    case 'union':
      return readUnion(schema as z.core.$ZodUnion, source, location, findings)
    case 'array':
      return Array.isArray(source) ? readList(schema as z.core.$ZodArray, source, location, findings) : undefined
    case 'record':
      return isObject(source) ? readRecord(schema as z.core.$ZodRecord, source, location, findings) : undefined
    case 'string':
      return parsed(schema, typeof source === 'number' || typeof source === 'boolean' ? String(source) : source)
    default:
      return parsed(schema, source)
  }
}

/** Reads the fields of an object; `paths`: paths of fields that the source names differently. */
export function readObject(
  schema: z.core.$ZodObject,
  source: JsonObject,
  location: SourceLocation,
  findings: ImportFindings,
  paths: FieldPaths = {},
): JsonObject | undefined {
  const { shape, catchall } = schema._zod.def
  const fields = readFields(shape, source, location, findings, paths)
  for (const where of unread(shape, source, paths)) {
    const value = where.reduce<Json>((from, part) => (from as JsonObject)[part]!, source)
    const at = where.reduce((from, part) => from.in(part), location)
    const [name = ''] = where
    const isStored = isOpen(catchall) && where.length === 1 && !Object.hasOwn(shape, name)
    if (isStored) fields[name] = value
    else findings.leave(at, value)
  }
  return parsed(schema, fields) === undefined ? undefined : fields
}

/** Whether the object schema keeps unknown members. */
export function isOpen(catchall: Schema | undefined): boolean {
  return catchall?._zod.def.type === 'unknown'
}

/** Reads the fields of `shape` and ignores other members of the source. */
export function readFields(
  shape: Shape,
  source: JsonObject,
  location: SourceLocation,
  findings: ImportFindings,
  paths: FieldPaths = {},
): JsonObject {
  const fields: JsonObject = {}
  for (const [field, schema] of Object.entries(shape)) {
    const place = paths[field] ?? [field]
    const value = valueAt(source, place)
    if (value === undefined) continue
    if (value === null) {
      if (schema._zod.def.type !== 'default' && parsed(schema, null) === null) fields[field] = null
      continue
    }
    const at = place.reduce((from, part) => from.in(part), location)
    const read = readOrLeave(schema, value, at, findings)
    if (read !== undefined) fields[field] = read
  }
  return fields
}

/** Reads `value`, or stores it as unplaced with a warning that gives the reason. */
export function readOrLeave(
  schema: Schema,
  value: Json,
  location: SourceLocation,
  findings: ImportFindings,
): Json | undefined {
  const read = findings.attempt(() => readValue(schema, value, location, findings))
  if (read === undefined)
    findings.leave(location, value, () => `\`${shown(location.name)}\` is not imported: ${reason(schema, value)}`)
  return read
}

/** The reason why the schema rejects the value. */
export function reason(schema: Schema, value: Json): string {
  const issue = z.safeParse(schema, value).error?.issues[0]
  if (issue === undefined) return 'it cannot be read'
  return issue.path.length === 0 ? issue.message : `${shown(issue.path.join('.'))}: ${issue.message}`
}

/** The identifying field of list items, by list name. */
const ID_FIELD: Readonly<Record<string, string>> = {
  nodes: 'id',
  edges: 'id',
  go_back_conditions: 'id',
  tools: 'tool_id',
  components: 'component_id',
}

/** The identifier of an item in the named list; undefined when it has none. */
export function idOf(item: Json | undefined, list: string): string | undefined {
  const field = Object.hasOwn(ID_FIELD, list) ? ID_FIELD[list]! : 'name'
  const id = isObject(item) && Object.hasOwn(item, field) ? item[field] : undefined
  return typeof id === 'string' && id !== '' ? id : undefined
}

/** The identifiers of the items; undefined when two are equal. */
function idsOf(items: readonly Json[], list: string): (string | undefined)[] {
  const ids = items.map(item => idOf(item, list))
  const counts = new Map<string | undefined, number>()
  for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1)
  return ids.map(id => (counts.get(id) === 1 ? id : undefined))
}

function parsed(schema: Schema, value: Json): Json | undefined {
  // Does the same as `safeParse` without building an error object, which would be most of the work on a bad export.
  const result = schema._zod.run({ value, issues: [] }, { async: false })
  if (result instanceof Promise)
    throw new TypeError('a schema of the export format is asynchronous: it must be synchronous')
  return result.issues.length === 0 ? (result.value as Json) : undefined
}

function valueAt(source: JsonObject, place: readonly string[]): Json | undefined {
  if (place.length === 0) return undefined
  let value: Json | undefined = source
  for (const part of place) value = isObject(value) && Object.hasOwn(value, part) ? value[part] : undefined
  return value
}

/** Paths that no field was read from: members of the source, and of the objects in it that hold fields. */
function unread(shape: Shape, source: JsonObject, paths: FieldPaths): (readonly string[])[] {
  if (Object.keys(paths).length === 0)
    return Object.keys(source).flatMap(name => (Object.hasOwn(shape, name) ? [] : [[name]]))
  const read = Object.keys(shape).map(field => paths[field] ?? [field])
  const direct = new Set(read.flatMap(place => (place.length === 1 ? [place[0]!] : [])))
  const nested = read.filter(place => place.length === 2)
  return Object.keys(source).flatMap(name => {
    const value = source[name]
    const inner = nested.flatMap(([outer, own]) => (outer === name ? [own!] : []))
    if (inner.length > 0 && isObject(value))
      return Object.keys(value).flatMap(member => (inner.includes(member) ? [] : [[name, member]]))
    return direct.has(name) ? [] : [[name]]
  })
}

function readUnion(
  schema: z.core.$ZodUnion,
  source: Json,
  location: SourceLocation,
  findings: ImportFindings,
): Json | undefined {
  const option = optionFor(schema, source)
  return option === undefined ? parsed(schema, source) : readValue(option, source, location, findings)
}

/** The object schema of a union that the discriminator in `source` selects; undefined: none. */
export function optionFor(schema: z.core.$ZodType, source: Json): z.core.$ZodObject | undefined {
  const { def } = (schema as z.core.$ZodTypes)._zod
  if (def.type === 'object') return schema as z.core.$ZodObject
  if (def.type !== 'union' || !('discriminator' in def) || !isObject(source)) return undefined
  const name = def.discriminator as string
  for (const option of def.options) {
    const inner = optionFor(option, source)
    const discriminator = inner?._zod.def.shape[name]
    if (discriminator !== undefined && Object.hasOwn(source, name) && isOneOf(discriminator, source[name])) return inner
  }
  return undefined
}

function isOneOf(schema: Schema, value: Json | undefined): boolean {
  const { values } = schema._zod
  // A literal lists its values; parsing instead would build an error for each option that does not match.
  return values === undefined ? z.safeParse(schema, value).success : values.has(value as z.core.util.Primitive)
}

function readList(
  schema: z.core.$ZodArray,
  source: Json[],
  location: SourceLocation,
  findings: ImportFindings,
): Json | undefined {
  const ids = idsOf(source, location.name)
  const read: [Json, Json, SourceLocation][] = []
  const { element } = schema._zod.def
  let place = 0
  source.forEach((item, index) => {
    // A null that is no valid item is skipped: an export would not write it either.
    if (item === null && parsed(element, null) === undefined) return
    const at = location.item(index, ids[index] ?? String(place))
    const value = readOrLeave(element, item, at, findings)
    if (value !== undefined) read.push([value, item, at])
    // An export appends unread items that have an id, so they do not shift the positions of others.
    if (value !== undefined || ids[index] === undefined) place++
  })
  const max = maxItems(
    schema,
    read.map(([value]) => value),
  )
  for (const [, item, at] of read.splice(max))
    findings.leave(at, item, `The list has more than ${max} items: this one is left out`)
  const items = read.map(([value]) => value)
  return parsed(schema, items) === undefined ? undefined : items
}

/** Maximum number of items in the list. */
function maxItems(schema: z.core.$ZodArray, items: Json[]): number {
  for (const issue of z.safeParse(schema, items).error?.issues ?? [])
    if (issue.code === 'too_big' && issue.path.length === 0) return Number(issue.maximum)
  return items.length
}

function readRecord(
  schema: z.core.$ZodRecord,
  source: JsonObject,
  location: SourceLocation,
  findings: ImportFindings,
): Json | undefined {
  const { keyType, valueType } = schema._zod.def
  const entries: [string, Json][] = []
  for (const [name, value] of Object.entries(source)) {
    if (value === null && parsed(valueType, null) === undefined) continue
    const at = location.in(name)
    if (!z.safeParse(keyType, name).success)
      findings.leave(at, value, `\`${shown(name)}\` is not imported: ${reason(keyType, name)}`)
    else {
      const read = readOrLeave(valueType, value, at, findings)
      if (read !== undefined) entries.push([name, read])
    }
  }
  const record = Object.fromEntries(entries)
  return parsed(schema, record) === undefined ? undefined : record
}
