import { action, actionKindNamed, actionKindOfTool, type ImportWarning, type Json } from '@parley/nodes'
import type { ImportFindings } from './import-findings.ts'
import { type JsonObject, objectOf, shown } from './json.ts'
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

/** The path of an action's field in a tool of an export. */
export function exportPathOf(kind: Json | undefined, field: string): readonly string[] {
  const paths = exportPathsOf(kind)
  return Object.hasOwn(paths, field) ? paths[field]! : [field]
}

/** Reads a tool as an action; undefined: agents have no such action, and the tool is stored as unplaced. */
export function readTool({ tool, location }: FoundTool, findings: ImportFindings): JsonObject | undefined {
  const actionKind = actionKindOfTool(tool.type)
  if (actionKind === undefined) {
    const type = shown(typeof tool.type === 'string' ? tool.type : 'no type')
    findings.leave(
      location,
      tool,
      `Agents have no action for tools of type \`${type}\`: the tool is left out`,
      'unsupported_capability',
    )
    return undefined
  }
  const { kind } = actionKind
  const source: JsonObject = { ...(actionKind.importTool?.(tool) ?? tool), type: kind }
  const read = findings.attempt(() => readAction(source, location, findings))
  if (read === undefined) {
    const why = reason(action, renamed(source, exportPathsOf(kind)))
    findings.leave(location, tool, `The tool \`${shown(String(tool.name))}\` is left out: ${why}`)
    return undefined
  }
  findings.place(location)
  warnOfUnsupported(actionKind, read, location, findings)
  return read
}

function readAction(source: JsonObject, location: SourceLocation, findings: ImportFindings): JsonObject | undefined {
  const paths = exportPathsOf(source.type)
  const option = optionFor(action, { kind: source.type! })
  return option && readObject(option, source, location, findings, paths)
}

function renamed(source: JsonObject, paths: FieldPaths): JsonObject {
  const fields: JsonObject = { ...source }
  for (const [field, path] of Object.entries(paths)) {
    const value = path.reduce<Json | undefined>((from, part) => objectOf(from)[part], source)
    if (value !== undefined && path.length > 0) fields[field] = value
  }
  return fields
}

/** Writes an action as a tool. Fields that the format does not have are written to `parley`, unless they equal their default, which `bare` omits. */
export function writeTool(source: JsonObject, bare: JsonObject): JsonObject {
  const paths = exportPathsOf(source.kind)
  const tool: JsonObject = {}
  const parley: JsonObject = {}
  for (const [field, value] of Object.entries(source)) {
    const place = Object.hasOwn(paths, field) ? paths[field]! : [field]
    if (place.length === 1) tool[place[0]!] = field === 'kind' ? exportTypeOf(value) : value
    else if (place.length === 2 && Object.hasOwn(bare, field)) parley[place[1]!] = value
  }
  const exported = actionKindNamed(source.kind)?.exportTool?.(tool) ?? tool
  return Object.keys(parley).length > 0 ? { ...exported, parley } : exported
}

function exportTypeOf(kind: Json): Json {
  return actionKindNamed(kind)?.exportType ?? kind
}

interface PartType {
  importWarnings?(part: JsonObject): readonly ImportWarning[]
}

/** Warns of what a node or an action of an export does differently. */
export function warnOfUnsupported(
  type: PartType,
  part: JsonObject,
  location: SourceLocation,
  findings: ImportFindings,
): void {
  for (const { code, field, message } of type.importWarnings?.(part) ?? [])
    findings.warn(code, location.in(field), message)
}
