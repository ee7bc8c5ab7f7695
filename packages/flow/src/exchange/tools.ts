import { action, type Json } from '@parley/contract'
import type { z } from 'zod'
import type { Findings } from './findings.ts'
import type { FoundTool } from './found-tools.ts'
import { isObject, type JsonObject, objectOf, shown } from './json.ts'
import { optionFor, type Places, readObject, reason } from './read-value.ts'
import type { Spot } from './spot.ts'

type Action = z.output<typeof action>

/** What the format calls the kinds of actions. */
const TYPE_OF_KIND: Readonly<Record<Action['kind'], string>> = {
  http: 'custom',
  end_call: 'end_call',
  transfer_call: 'transfer_call',
  press_digit: 'press_digit',
  extract_dynamic_variables: 'extract_dynamic_variable',
  agent_swap: 'agent_swap',
  send_sms: 'send_sms',
}
const KIND_OF_TYPE = new Map<Json | undefined, string>(Object.entries(TYPE_OF_KIND).map(([kind, type]) => [type, kind]))

/** Where a tool has the fields of an action. The version of an action is the server's. */
const EVERY_PLACE: Places = {
  action_id: ['tool_id'],
  kind: ['type'],
  version: [],
  channels: ['parley', 'channels'],
}
const HTTP_PLACES: Places = {
  ...EVERY_PLACE,
  query: ['query_params'],
  body_format: ['parameter_type'],
  auth: ['parley', 'auth'],
  idempotency: ['parley', 'idempotency'],
}

function placesOf(kind: Json | undefined): Places {
  return kind === 'http' ? HTTP_PLACES : EVERY_PLACE
}

/** The action that a tool is; undefined where it is none that agents have, and the tool is left whole. */
export function readTool({ tool, spot }: FoundTool, findings: Findings): JsonObject | undefined {
  const kind = KIND_OF_TYPE.get(tool.type)
  if (kind === undefined) {
    const type = shown(typeof tool.type === 'string' ? tool.type : 'no type')
    findings.leave(spot, tool, `No action is like the tool \`${type}\`: it is left out`, 'unsupported_capability')
    return undefined
  }
  const source: JsonObject = { ...tool, type: kind }
  if (kind === 'http') source.method = typeof tool.method === 'string' ? tool.method.toUpperCase() : 'POST'
  const own = ownFields(source)
  const read = findings.attempt(() => readAction(source, spot, findings))
  if (read === undefined) {
    const why = reason(action, renamed(source, placesOf(kind)))
    findings.leave(spot, tool, `The tool \`${shown(String(tool.name))}\` is left out: ${why}`)
    return undefined
  }
  Object.assign(read, own)
  noteUnsupported(read, spot, findings)
  return read
}

function readAction(source: JsonObject, spot: Spot, findings: Findings): JsonObject | undefined {
  const places = placesOf(source.type)
  const option = optionFor(action, { kind: source.type! })
  return option && readObject(option, source, spot, findings, places)
}

/** Fields of an action that is kept as written, which the format has others of the same names for. */
const TAKEN_NAMES = ['type', 'tool_id', 'parley']

/** Takes `parley.own` out of the tool: see {@link TAKEN_NAMES}. */
function ownFields(source: JsonObject): JsonObject {
  const { own, ...parley } = objectOf(source.parley)
  if (!isObject(own) || !NOT_RUN.has(String(source.type))) return {}
  source.parley = parley
  return Object.fromEntries(Object.entries(own).filter(([name]) => TAKEN_NAMES.includes(name)))
}

function renamed(source: JsonObject, places: Places): JsonObject {
  const fields: JsonObject = { ...source }
  for (const [field, place] of Object.entries(places)) {
    const value = place.reduce<Json | undefined>((from, part) => objectOf(from)[part], source)
    if (value !== undefined && place.length > 0) fields[field] = value
  }
  return fields
}

/** The tool that an action is; what the format lacks stands in `parley`, where `bare` says that it is no default. */
export function writeTool(source: JsonObject, bare: JsonObject): JsonObject {
  const places = placesOf(source.kind)
  const tool: JsonObject = {}
  const parley: JsonObject = {}
  const own: JsonObject = {}
  for (const [field, value] of Object.entries(source)) {
    const place = Object.hasOwn(places, field) ? places[field]! : [field]
    if (TAKEN_NAMES.includes(field)) own[field] = value
    else if (place.length === 1) tool[place[0]!] = field === 'kind' ? TYPE_OF_KIND[value as Action['kind']] : value
    else if (place.length === 2 && Object.hasOwn(bare, field)) parley[place[1]!] = value
  }
  if (Object.keys(own).length > 0) parley.own = own
  return Object.keys(parley).length > 0 ? { ...tool, parley } : tool
}

/** What is kept, but does not run: drafts that have it are not published. */
export function noteUnsupported(part: JsonObject, spot: Spot, findings: Findings): void {
  const kind = String(part.kind ?? part.type)
  if (NOT_RUN.has(kind))
    findings.warn(
      'unsupported_capability',
      spot,
      `\`${kind}\` does not run yet: it is kept, and keeps the draft from going live`,
    )
  const { type, cold_transfer_mode: mode } = objectOf(part.transfer_option)
  if (type !== undefined && (type !== 'cold_transfer' || mode === 'sip_invite'))
    findings.warn(
      'unsupported_capability',
      spot.in('transfer_option'),
      'Transfers run cold, by sip_refer, only: this one is kept, and keeps the draft from going live',
    )
}

const NOT_RUN: ReadonlySet<string> = new Set([
  'agent_swap',
  'send_sms',
  'code',
  'mcp',
  'sms',
  'bridge_transfer',
  'cancel_transfer',
])
