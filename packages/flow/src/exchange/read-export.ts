import { agentKnowledge, analysis, flow as flowSchema, inboundContext, type Json } from '@parley/contract'
import { type AgentField, readAgentField } from './agent-field.ts'
import { AGENT_FIELDS, webhookEvents } from './agent-fields.ts'
import { ImportFindings, type WarningCode } from './import-findings.ts'
import { given, isObject, type JsonObject, objectOf } from './json.ts'
import { boundModel, type ModelBindings, type ModelRef } from './models.ts'
import { readComponents, readNodes } from './nodes.ts'
import { normaliseIds } from './normalise-ids.ts'
import { readFields, readOrLeave } from './read-value.ts'
import { SourceLocation } from './source-location.ts'
import { readTool } from './tools.ts'

/** The contents of an export as parts of a draft, with everything that drafts have a field for. */
export interface ReadExport {
  readonly findings: ImportFindings
  /** The values of fields by group and name. */
  readonly values: Readonly<Record<AgentField['group'], JsonObject>>
  readonly flow: JsonObject
  readonly actions: JsonObject[]
  readonly analysis: { items: Json; model: ModelRef | null } | null
  readonly inboundContext: Json | null
  readonly knowledge: Json | null
  readonly flowModel: ModelRef | null
  readonly flowId: string | null
  readonly flowVersion: number | null
}

const AGENT = new SourceLocation(['agent'])
const FLOW = new SourceLocation(['flow'])

/** Fields that functions of their own read, not `AGENT_FIELDS`. */
const AGENT_READ = [
  'agent_name',
  'version',
  'response_engine',
  'webhook_url',
  'parley',
  'post_call_analysis_data',
  'post_call_analysis_model',
]
const FLOW_READ = ['conversation_flow_id', 'version', 'nodes', 'components', 'model_choice']

/** Warnings about fields that need another text than "drafts have no field for it". */
const SPECIAL_WARNINGS: Readonly<Record<string, readonly [WarningCode, string]>> = {
  voice_emotion: ['voice_replaced', 'Emotions of a voice are not supported: the voice speaks without one'],
  knowledge_base_ids: ['field_ignored', 'Knowledge bases are not imported: attach documents to the agent instead'],
  kb_config: ['field_ignored', 'Knowledge bases are not imported: attach documents to the agent instead'],
}
/** Fields that are stored without a warning, because they have no effect here or repeat other fields. */
const STORED_SILENTLY = new Set([
  'agent_id',
  'channel',
  'is_published',
  'last_modification_timestamp',
  'is_transfer_llm',
  'is_transfer_cf',
])

/** Reads an export whose size and depth were checked before. Accepts any value and never throws. */
export function readExport(
  body: { readonly agent: JsonObject; readonly flow: JsonObject; readonly agentVersion: number | null },
  bindings: ModelBindings,
  hasWebhook: boolean,
): ReadExport {
  const findings = new ImportFindings()
  const { agent } = body
  const { flow, tools } = normaliseIds(body.flow, findings)
  const parley = objectOf(agent.parley)
  const fields = hasWebhook ? [...AGENT_FIELDS, webhookEvents] : AGENT_FIELDS
  const values = { settings: {}, recording: {}, notification: {} } as Record<AgentField['group'], JsonObject>
  for (const field of fields) {
    const value = readAgentField(field, field.home === 'agent' ? agent : flow, parley, findings)
    if (value !== undefined) values[field.group][field.name] = value
  }
  const actions = tools.map(found => readTool(found, findings)).filter(read => read !== undefined)
  const ids = readIdentity(agent, flow, body.agentVersion, findings)
  const flowModel = boundModel(flow.model_choice, FLOW.in('model_choice'), bindings, findings)
  const read = readFlow(flow, bindings, findings)
  const own = readParley(agent.parley, fields, findings)
  const isVoice = agent.channel === 'voice'
  leaveRest(agent, AGENT, [...AGENT_READ, ...(isVoice ? ['channel'] : []), ...namesOf(fields, 'agent')], findings)
  leaveRest(flow, FLOW, [...FLOW_READ, ...Object.keys(flowSchema.shape), ...namesOf(fields, 'flow')], findings)
  return {
    findings,
    values,
    flow: read,
    actions,
    analysis: readAnalysis(agent, bindings, findings),
    ...own,
    flowModel,
    ...ids,
  }
}

function readFlow(flow: JsonObject, bindings: ModelBindings, findings: ImportFindings): JsonObject {
  const { nodes: _, components: __, ...shape } = flowSchema.shape
  return {
    ...readFields(shape, flow, FLOW, findings),
    nodes: readNodes(given(flow, 'nodes'), FLOW.in('nodes'), bindings, findings),
    components: readComponents(given(flow, 'components'), FLOW.in('components'), bindings, findings),
  }
}

function readIdentity(agent: JsonObject, flow: JsonObject, agentVersion: number | null, findings: ImportFindings) {
  const engine = objectOf(agent.response_engine)
  const at = AGENT.in('response_engine')
  const ofFlow = flow.conversation_flow_id
  const flowId = typeof ofFlow === 'string' ? ofFlow : engine.conversation_flow_id
  const flowVersion = isCount(flow.version) ? flow.version : null
  for (const [name, value] of Object.entries(engine))
    if (name === 'type' || (name === 'version' && value === agentVersion)) continue
    else if (name === 'conversation_flow_id' && value === flowId) continue
    else if (value !== null) findings.keep(at.in(name), value)
  if (ofFlow !== undefined && ofFlow !== null && typeof ofFlow !== 'string') {
    const location = FLOW.in('conversation_flow_id')
    // The next export writes the agent's name of the flow here, so this value is not stored.
    if (typeof flowId === 'string')
      findings.warn('field_ignored', location, '`conversation_flow_id` of the flow is not a text: it is dropped')
    else findings.leave(location, ofFlow)
  }
  if (flow.version !== undefined && flow.version !== null && flowVersion === null)
    findings.leave(FLOW.in('version'), flow.version, '`version` of the flow is not a whole number: it is left out')
  return { flowId: typeof flowId === 'string' ? flowId : null, flowVersion }
}

export function isCount(value: Json | undefined): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

function readAnalysis(agent: JsonObject, bindings: ModelBindings, findings: ImportFindings): ReadExport['analysis'] {
  const data = given(agent, 'post_call_analysis_data')
  const at = AGENT.in('post_call_analysis_data')
  const items = data === undefined ? undefined : readOrLeave(analysis.shape.items, data, at, findings)
  const choice = given(agent, 'post_call_analysis_model')
  const model = boundModel(choice, AGENT.in('post_call_analysis_model'), bindings, findings)
  return items === undefined && model === null ? null : { items: items ?? [], model }
}

/** Reads `agent.parley`, which has the values that the format has no field for. */
function readParley(source: Json | undefined, fields: readonly AgentField[], findings: ImportFindings) {
  const at = AGENT.in('parley')
  const shape = { inbound_context: inboundContext, knowledge: agentKnowledge }
  const parley = objectOf(source)
  const { inbound_context: context, knowledge } = readFields(shape, parley, at, findings)
  const own = { inboundContext: context ?? null, knowledge: knowledge ?? null }
  if (source !== undefined && !isObject(source)) findings.leave(at, source)
  for (const [name, value] of Object.entries(parley)) {
    if (Object.hasOwn(shape, name)) continue
    const known = new Set(fields.flatMap(field => (field.group === name ? [field.name] : [])))
    if (known.size === 0 || !isObject(value)) findings.leave(at.in(name), value)
    else leaveRest(value, at.in(name), [...known], findings)
  }
  return own
}

function leaveRest(
  source: JsonObject,
  location: SourceLocation,
  read: readonly string[],
  findings: ImportFindings,
): void {
  const known = new Set(read)
  for (const [name, value] of Object.entries(source)) {
    if (known.has(name)) continue
    const at = location.in(name)
    const [code, message] = Object.hasOwn(SPECIAL_WARNINGS, name) ? SPECIAL_WARNINGS[name]! : []
    if (STORED_SILENTLY.has(name) || (name === 'flex_mode' && value === false)) findings.keep(at, value)
    else findings.leave(at, value, message, code)
  }
}

function namesOf(fields: readonly AgentField[], home: AgentField['home']): string[] {
  return fields.flatMap(field => (field.home === home ? field.fields : []))
}
