import type { Diagnostic, Json } from '@parley/contract'
import { z } from 'zod'
import { ImportFindings, type WarningCode } from './import-findings.ts'
import { equal, given, type JsonObject, objectOf, shown } from './json.ts'
import { readValue, reason } from './read-value.ts'
import { SourceLocation } from './source-location.ts'

/** A warning about a field; `field` is its name in the export. */
export interface Note {
  readonly code: WarningCode
  readonly field: string
  readonly message: string
  readonly fixes?: NonNullable<Diagnostic['fixes']>
}

/** Maps a value of the draft to the fields of the export's agent or flow that express it. */
export interface AgentField {
  /** The part of the draft that has the value, and the member of `agent.parley` for values that the fields cannot express. */
  readonly group: 'settings' | 'recording' | 'notification'
  readonly name: string
  readonly schema: z.core.$ZodType
  readonly home: 'agent' | 'flow'
  readonly fields: readonly string[]
  /** Reads the value that the fields express; undefined: none. */
  readonly read: (fields: JsonObject, notes: Note[]) => Json | undefined
  /** The fields that express `value`, as far as fields can. */
  readonly write: (value: Json) => JsonObject
  /** The fields name resources of the source platform: they give the draft no value and are exported unchanged. */
  readonly isForeign?: boolean
  /** The draft's value where no field expresses one. Default: none. */
  readonly whenUnset?: Json
}

/** The value of a field in an export. Fields that the value does not express are stored as unplaced. */
export function readAgentField(field: AgentField, home: JsonObject, parley: JsonObject, findings: ImportFindings) {
  const source = pick(field, name => given(home, name))
  const notes: Note[] = []
  const fromFields = readValid(field, source, notes)
  const own = given(objectOf(given(parley, field.group)), field.name)
  const isOwn = own !== undefined && z.safeParse(field.schema, own).success
  const location = new SourceLocation([field.home])
  if (own !== undefined && !isOwn) {
    const at = new SourceLocation(['agent', 'parley', field.group, field.name])
    findings.leave(at, own, `\`${field.name}\` is not imported: ${reason(field.schema, own)}`)
  }
  const value = isOwn ? own : fromFields
  const isExpressed = value !== undefined && equal(field.write(value), source)
  if (isExpressed || Object.keys(source).length === 0) return value
  if (isOwn && !field.isForeign && !equal(fromFields, own)) {
    const [name = ''] = Object.keys(source)
    findings.warn(
      'field_ignored',
      location.in(name),
      `This field differs from \`parley.${field.group}.${field.name}\`, which is used instead`,
    )
    return value
  }
  for (const [name, stored] of Object.entries(source)) findings.keep(location.in(name), stored)
  for (const { code, field: name, message, fixes } of isOwn && !field.isForeign ? [] : notes)
    findings.warn(code, location.in(name), message, fixes)
  return value
}

/** The fields that express `value`; `isWhole`: they express it completely. `unplaced`: the stored fields of the source. */
export function writeAgentField(field: AgentField, value: Json | undefined, unplaced: JsonObject) {
  const location = new SourceLocation([field.home])
  const original = pick(field, name => given(unplaced, location.in(name).pointer))
  const isOriginal =
    Object.keys(original).length > 0 && (field.isForeign === true || equal(valueExpressedBy(field, original), value))
  const fields = isOriginal ? original : value === undefined ? {} : field.write(value)
  return { fields, isWhole: value === undefined || equal(valueExpressedBy(field, fields), value) }
}

/** The draft's value after an import of these fields. */
function valueExpressedBy(field: AgentField, source: JsonObject): Json | undefined {
  return readValid(field, source, []) ?? field.whenUnset
}

/** A field of the export that has the draft's value under another name. */
export function sameField(
  group: AgentField['group'],
  name: string,
  schema: z.core.$ZodType,
  home: AgentField['home'],
  source: string,
): AgentField {
  return {
    group,
    name,
    schema,
    home,
    fields: [source],
    read: (fields, notes) => readLoosely(schema, fields[source], source, notes),
    write: value => ({ [source]: value }),
  }
}

/** Reads the parts of `value` that `schema` accepts, with a note for each part that it refuses. */
export function readLoosely(schema: z.core.$ZodType, value: Json | undefined, field: string, notes: Note[]) {
  if (value === undefined) return undefined
  const found = new ImportFindings()
  const read = readValue(schema, value, new SourceLocation([]), found)
  for (const { message } of found.warnings) notes.push({ code: 'field_ignored', field, message })
  if (read === undefined) {
    const isWord = typeof value === 'string' && value !== ''
    const message = `\`${field}\` is not imported: ${isWord ? `\`${shown(value)}\`: ` : ''}${reason(schema, value)}`
    notes.push({ code: isWord ? 'setting_unknown' : 'field_ignored', field, message })
  }
  return read
}

function readValid(field: AgentField, source: JsonObject, notes: Note[]): Json | undefined {
  if (Object.keys(source).length === 0) return undefined
  const value = field.read(source, notes)
  if (value === undefined || z.safeParse(field.schema, value).success) return value
  const [name = ''] = Object.keys(source)
  notes.push({
    code: 'field_ignored',
    field: name,
    message: `\`${name}\` is not imported: ${reason(field.schema, value)}`,
  })
  return undefined
}

function pick(field: AgentField, of: (name: string) => Json | undefined): JsonObject {
  const entries = field.fields.map(name => [name, of(name)] as const)
  return Object.fromEntries(entries.filter((entry): entry is [string, Json] => entry[1] !== undefined))
}
