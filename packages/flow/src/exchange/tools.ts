import { action, actionKindNamed, actionKindOfTool, type ImportWarning, type Json } from '@parley/nodes'
import type { ImportFindings } from './import-findings.ts'
import { isObject, type JsonObject, objectOf, shown } from './json.ts'
import { type FieldPaths, optionFor, readObject, reason } from './read-value.ts'
import type { SourceLocation } from './source-location.ts'
import type { FoundTool } from './tool-collector.ts'

/** Paths of the fields that every action has in a tool of an export. The server sets an action's version. */
const COMMON_PATHS: FieldPaths = {
  action_id: ['tool_id'],
  kind: ['type'],
  version: [],
  channels: ['parley', 'channels'],
}

/** Paths of an action's fields in a tool of an export, where they differ from the field's name. */
function exportPathsOf(kind: Json | undefined): FieldPaths {
  return { ...COMMON_PATHS, ...actionKindNamed(kind)?.exportPaths }
}

/** The action that a tool is; undefined where it is none that agents have, and the tool is left whole. */
export function readTool({ tool, location }: FoundTool, findings: ImportFindings): JsonObject | undefined {
  const actionKind = actionKindOfTool(tool.type)
  if (actionKind === undefined) {
    const type = shown(typeof tool.type === 'string' ? tool.type : 'no type')
    findings.leave(location, tool, `No action is like the tool \`${type}\`: it is left out`, 'unsupported_capability')
    return undefined
  }
  const { kind } = actionKind
  const source: JsonObject = { ...(actionKind.importTool?.(tool) ?? tool), type: kind }
  const own = actionKind.isRunnable ? {} : ownFields(source)
  const read = findings.attempt(() => readAction(source, location, findings))
  if (read === undefined) {
    const why = reason(action, renamed(source, exportPathsOf(kind)))
    findings.leave(location, tool, `The tool \`${shown(String(tool.name))}\` is left out: ${why}`)
    return undefined
  }
  Object.assign(read, own)
  warnOfUnsupported(actionKind, read, location, findings)
  return read
}

function readAction(source: JsonObject, location: SourceLocation, findings: ImportFindings): JsonObject | undefined {
  const places = exportPathsOf(source.type)
  const option = optionFor(action, { kind: source.type! })
  return option && readObject(option, source, location, findings, places)
}

/** Fields of an action that is kept as written, which the format has others of the same names for. */
const TAKEN_NAMES = ['type', 'tool_id', 'parley']

/** Takes `parley.own` out of the tool: see {@link TAKEN_NAMES}. */
function ownFields(source: JsonObject): JsonObject {
  const { own, ...parley } = objectOf(source.parley)
  if (!isObject(own)) return {}
  source.parley = parley
  return Object.fromEntries(Object.entries(own).filter(([name]) => TAKEN_NAMES.includes(name)))
}

function renamed(source: JsonObject, places: FieldPaths): JsonObject {
  const fields: JsonObject = { ...source }
  for (const [field, place] of Object.entries(places)) {
    const value = place.reduce<Json | undefined>((from, part) => objectOf(from)[part], source)
    if (value !== undefined && place.length > 0) fields[field] = value
  }
  return fields
}

/** The tool that an action is; what the format lacks stands in `parley`, where `bare` says that it is no default. */
export function writeTool(source: JsonObject, bare: JsonObject): JsonObject {
  const places = exportPathsOf(source.kind)
  const tool: JsonObject = {}
  const parley: JsonObject = {}
  const own: JsonObject = {}
  for (const [field, value] of Object.entries(source)) {
    const place = Object.hasOwn(places, field) ? places[field]! : [field]
    if (TAKEN_NAMES.includes(field)) own[field] = value
    else if (place.length === 1) tool[place[0]!] = field === 'kind' ? exportTypeOf(value) : value
    else if (place.length === 2 && Object.hasOwn(bare, field)) parley[place[1]!] = value
  }
  if (Object.keys(own).length > 0) parley.own = own
  return Object.keys(parley).length > 0 ? { ...tool, parley } : tool
}

function exportTypeOf(kind: Json): Json {
  return actionKindNamed(kind)?.exportType ?? kind
}

interface PartType {
  readonly isRunnable: boolean
  importWarnings?(part: JsonObject): readonly ImportWarning[]
}

/** Warns of a node or an action that is kept but does not run. */
export function warnOfUnsupported(
  type: PartType,
  part: JsonObject,
  location: SourceLocation,
  findings: ImportFindings,
): void {
  if (!type.isRunnable)
    findings.warn(
      'unsupported_capability',
      location,
      `\`${String(part.kind ?? part.type)}\` does not run yet: it is kept, and keeps the draft from going live`,
    )
  for (const { code, field, message } of type.importWarnings?.(part) ?? [])
    findings.warn(code, location.in(field), message)
}
