import { type Diagnostic, draftContent, type Json } from '@parley/contract'
import { checkActions } from '../plan/check-actions.ts'
import { checkNodes } from '../plan/check-nodes.ts'
import { checkNotExecuted } from '../plan/check-not-executed.ts'
import { checkServiceSettings } from '../plan/check-service-settings.ts'
import { Findings } from '../plan/findings.ts'
import { AGENT_FIELDS } from './agent-fields.ts'
import type { ImportConfig } from './check-export.ts'
import { isObject, type JsonObject } from './json.ts'
import type { ReadExport } from './read-export.ts'
import { partsOf } from './source-location.ts'
import { exportPathOf } from './tools.ts'

/** In the place of services that the request does not name: settings that depend on them are not judged then. */
const ANY_SERVICES: ImportConfig['providers'] = {
  stt: { provider: 'any', model: 'any' },
  tts: { provider: 'any', model: 'any' },
  llm: { provider: 'hosted', model: { provider: 'any', model_id: 'any', tier: 'frontier' } },
}

/** Warnings of members of the export that a draft can hold and that nothing executes, each at its place in the export. */
export function notExecutedMembers(
  read: ReadExport,
  source: { readonly agent: JsonObject; readonly flow: JsonObject },
  config: ImportConfig | undefined,
): Diagnostic[] {
  const { success, data: draft } = draftContent.safeParse({
    name: 'Inspected',
    settings: read.values.settings,
    providers: config?.providers ?? ANY_SERVICES,
    telephony: null,
    recording: { required: true, channels: 'dual' },
    notification: null,
    inbound_context: null,
    knowledge: null,
    analysis: read.analysis,
    actions: read.actions,
    flow: read.flow,
    source: null,
  })
  if (!success) return []
  const findings = new Findings()
  checkNodes(draft, findings)
  checkActions(draft, findings)
  checkNotExecuted(draft, findings)
  if (config !== undefined) checkServiceSettings(draft, findings)
  const named = read.findings.warnings.map(({ path }) => path)
  return findings.sorted().flatMap(({ code, path, message, severity }) => {
    const at = code === 'not_executed' ? placeOf(partsOf(path), draft as unknown as JsonObject, source, read) : null
    // One warning for a member: the import has named it, or a part of it, in words of its own.
    if (at === null || named.some(other => isWithin(at, other) || isWithin(other, at))) return []
    return [{ code, path: at, message, severity }]
  })
}

/** The pointer into the export for a path in the draft; null: the export has no such member. */
function placeOf(
  [part, ...rest]: readonly string[],
  draft: JsonObject,
  source: { readonly agent: JsonObject; readonly flow: JsonObject },
  { findings }: ReadExport,
): string | null {
  if (part === 'settings') {
    const field = AGENT_FIELDS.find(({ group, name }) => group === 'settings' && name === rest[0])
    const name = field?.fields.find(one => Object.hasOwn(source[field.home], one))
    return field === undefined || name === undefined ? null : `/${field.home}/${name}`
  }
  if (part === 'actions') {
    const [index = '', field = '', ...inner] = rest
    const action = memberOf(draft.actions, index)
    const place = isObject(action) ? findings.placeOf(`/flow/tools/${String(action.action_id)}`) : undefined
    if (place === undefined || !isObject(action)) return null
    return [place, ...exportPathOf(action.kind, field), ...inner].join('/')
  }
  if (part !== 'flow') return null
  return flowPlace(rest, draft.flow, findings)
}

function flowPlace(path: readonly string[], flow: Json | undefined, findings: ReadExport['findings']): string | null {
  const [list = '', index = '', ...rest] = path
  const item = isObject(flow) ? memberOf(flow[list], index) : undefined
  if (list === 'components' && isObject(item)) {
    const [, at = '', ...inner] = rest
    const node = memberOf(item.nodes, at)
    const id = isObject(node) ? String(node.id) : ''
    return within(findings.placeOf(`/flow/components/${String(item.component_id)}/nodes/${id}`), inner)
  }
  if (list !== 'nodes' || !isObject(item)) return null
  return within(findings.placeOf(`/flow/nodes/${String(item.id)}`), rest)
}

function memberOf(list: Json | undefined, index: string): Json | undefined {
  return Array.isArray(list) ? list[Number(index)] : undefined
}

function within(place: string | undefined, path: readonly string[]): string | null {
  return place === undefined ? null : [place, ...path].join('/')
}

function isWithin(path: string, ancestor: string): boolean {
  return path === ancestor || path.startsWith(`${ancestor}/`)
}
