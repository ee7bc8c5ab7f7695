import {
  action,
  analysisItem,
  type Diagnostic,
  flow as flowSchema,
  type Json,
  type OperationNamed,
  type ResultOf,
} from '@parley/contract'
import { type AgentField, writeAgentField } from './agent-field.ts'
import { AGENT_FIELDS, webhookEvents } from './agent-fields.ts'
import { exportedValue } from './exported-value.ts'
import type { DraftContent } from './import-export.ts'
import { ImportFindings } from './import-findings.ts'
import { given, type JsonObject, objectOf } from './json.ts'
import { type ModelBindings, type ModelRef, modelChoice } from './models.ts'
import { normaliseIds } from './normalise-ids.ts'
import { SourceLocation } from './source-location.ts'
import { writeTool } from './tools.ts'
import { writeBack } from './write-back.ts'

interface ExportOptions {
  readonly version: number
  readonly includeWebhook: boolean
}

const WEBHOOK_LEFT_OUT: Diagnostic = {
  code: 'webhook_left_out',
  path: '/config/webhook',
  message:
    'The webhook is not in this export, because its URL may contain credentials: export with include_webhook to have it',
  severity: 'warning',
}

type ExportedDraft = ResultOf<OperationNamed<'agents.export'>>

/**
 * Writes a draft in the conversation-flow format, which an import accepts. Values that the format has no field for are in
 * objects named `parley`; values that an import could not place are written where they were. Secrets are referred to by id
 * and never written out. `version` is the agent version that is exported. Without `includeWebhook` the webhook is left out, and a warning says so.
 */
export function exportDraft(whole: DraftContent, { version, includeWebhook }: ExportOptions): ExportedDraft {
  const isWithoutWebhook = whole.notification !== null && !includeWebhook
  const draft = isWithoutWebhook ? { ...whole, notification: null } : whole
  const unplaced: JsonObject = draft.source?.unplaced ?? {}
  const written = (isBare: boolean) => {
    // Unplaced values are written into the draft's own objects, so a copy is needed.
    const copy = structuredClone(draft)
    return { agent: writeAgent(copy, version, unplaced, isBare), flow: writeFlow(copy, unplaced, isBare) }
  }
  const [full, bare] = [written(false), written(true)]
  const done = new Set(fieldsOf(draft).flatMap(field => field.fields.map(name => `/${field.home}/${name}`)))
  writeBack({ whole: full, bare }, unplaced, pointer => done.has(pointer) || isModel(pointer))
  const findings = new ImportFindings()
  const { flow, tools } = normaliseIds(full.flow, findings)
  return {
    agent_version: version,
    agent: full.agent,
    flow: { ...flow, tools: [...tools.map(({ tool }) => tool)] },
    config: writeConfig(draft),
    model_bindings: bindingsOf(draft),
    warnings: [...findings.warnings, ...notImportable(draft), ...(isWithoutWebhook ? [WEBHOOK_LEFT_OUT] : [])],
  }
}

function fieldsOf(draft: DraftContent): readonly AgentField[] {
  return draft.notification === null ? AGENT_FIELDS : [...AGENT_FIELDS, webhookEvents]
}

/** Whether the pointer leads to the name of a model, which is written together with the model. */
function isModel(pointer: string): boolean {
  return /^\/flow(\/components\/[^/]*)?(\/nodes\/[^/]*)?\/model_choice$|^\/agent\/post_call_analysis_model$/.test(
    pointer,
  )
}

function writeAgent(draft: DraftContent, version: number, unplaced: JsonObject, isBare: boolean): JsonObject {
  const { source, notification, analysis } = draft
  const written = writeFields(draft, 'agent', unplaced)
  const parley: JsonObject = {
    ...parleyOf(draft, unplaced),
    ...(draft.inbound_context && { inbound_context: { ...draft.inbound_context } }),
    ...(draft.knowledge && { knowledge: { ...draft.knowledge } }),
  }
  const flowId = source?.flow_id ?? null
  return {
    agent_name: draft.name,
    version,
    ...(!isBare && { channel: 'voice' }),
    response_engine: {
      type: 'conversation-flow',
      ...(!isBare && { version, ...(flowId !== null && { conversation_flow_id: flowId }) }),
    },
    ...written,
    ...(notification && { webhook_url: notification.url }),
    ...(analysis && writeAnalysis(analysis, unplaced, isBare)),
    ...(Object.keys(parley).length > 0 && { parley }),
  }
}

function writeAnalysis(
  analysis: NonNullable<DraftContent['analysis']>,
  unplaced: JsonObject,
  isBare: boolean,
): JsonObject {
  const items = analysis.items.map(item => exportedValue(analysisItem, item as Json, isBare))
  const { model } = analysis
  const name = given(unplaced, '/agent/post_call_analysis_model') ?? model?.model.model_id
  return {
    ...((!isBare || items.length > 0 || model === null) && { post_call_analysis_data: items }),
    ...(model !== null && { post_call_analysis_model: name! }),
  }
}

/** The fields of the agent or the flow that express settings and the like. */
function writeFields(draft: DraftContent, home: AgentField['home'], unplaced: JsonObject): JsonObject {
  const fields: JsonObject = {}
  for (const field of fieldsOf(draft))
    if (field.home === home) Object.assign(fields, writeAgentField(field, valueIn(draft, field), unplaced).fields)
  return fields
}

/** By group, the values that the fields of the format do not express completely. */
function parleyOf(draft: DraftContent, unplaced: JsonObject): JsonObject {
  const parley: { [group: string]: JsonObject } = {}
  for (const field of fieldsOf(draft)) {
    const value = valueIn(draft, field)
    if (value === undefined || writeAgentField(field, value, unplaced).isWhole) continue
    const group = parley[field.group] ?? {}
    parley[field.group] = { ...group, [field.name]: value }
  }
  return parley
}

function valueIn(draft: DraftContent, { group, name }: AgentField): Json | undefined {
  // Links are signed by default.
  if (group === 'recording') return draft.recording.signed_urls ? undefined : false
  return given(objectOf(draft[group]), name)
}

function writeFlow(draft: DraftContent, unplaced: JsonObject, isBare: boolean): JsonObject {
  const { source } = draft
  const root = new SourceLocation(['flow'])
  const flow = exportedValue(flowSchema, draft.flow as unknown as Json, isBare) as JsonObject
  const { llm } = draft.providers
  const own: ModelRef = { model: llm.model, ...(llm.credential && { credential: llm.credential }) }
  const tools = draft.actions.map(one => {
    const bare = exportedValue(action, one as Json, true) as JsonObject
    return writeTool(isBare ? bare : (exportedValue(action, one as Json, false) as JsonObject), bare)
  })
  const list = (name: string, items: JsonObject[]) => (isBare && items.length === 0 ? {} : { [name]: items })
  const nodesOf = (owner: JsonObject, location: SourceLocation) => {
    const nodes = (owner.nodes ?? []) as JsonObject[]
    return list(
      'nodes',
      nodes.map((node, index) => withNamedModel(node, location.in('nodes').item(index, String(node.id)), unplaced)),
    )
  }
  const components = ((flow.components ?? []) as JsonObject[]).map((component, index) => {
    const location = root.in('components').item(index, String(component.component_id))
    return { ...component, ...nodesOf(component, location) }
  })
  return {
    ...(source?.flow_id != null && { conversation_flow_id: source.flow_id }),
    ...(source?.flow_version != null && { version: source.flow_version }),
    ...flow,
    ...writeFields(draft, 'flow', unplaced),
    model_choice: given(unplaced, '/flow/model_choice') ?? modelChoice(own),
    ...nodesOf(flow, root),
    ...list('components', components),
    ...list('tools', tools),
  }
}

/** The node, with its model named as in the format; `model_bindings` has the model of this platform. */
function withNamedModel(node: JsonObject, location: SourceLocation, unplaced: JsonObject): JsonObject {
  const { model_choice: choice, ...others } = node
  if (choice === undefined || choice === null) return others
  const original = given(unplaced, location.in('model_choice').pointer)
  return { ...others, model_choice: original ?? modelChoice(choice as unknown as ModelRef) }
}

function bindingsOf(draft: DraftContent): ModelBindings {
  const { llm } = draft.providers
  const bindings: Record<string, ModelRef> = {
    '/flow/model_choice': { model: llm.model, ...(llm.credential && { credential: llm.credential }) },
  }
  if (draft.analysis?.model) bindings['/agent/post_call_analysis_model'] = draft.analysis.model
  const add = (nodes: DraftContent['flow']['nodes'], path: string) => {
    for (const [index, node] of nodes.entries())
      if (node.model_choice !== null) bindings[`${path}/nodes/${index}/model_choice`] = node.model_choice
  }
  add(draft.flow.nodes, '/flow')
  for (const [index, component] of draft.flow.components.entries()) add(component.nodes, `/flow/components/${index}`)
  return bindings
}

function writeConfig({ providers, telephony, recording, notification }: DraftContent): ExportedDraft['config'] {
  return {
    providers,
    ...(telephony && {
      telephony: { trunkId: telephony.trunkId, ...(telephony.from !== null && { from: telephony.from }) },
    }),
    recording: { required: recording.required, channels: recording.channels },
    ...(notification && {
      webhook: { url: notification.url, secretRef: `${notification.secret.id}@${notification.secret.version}` },
    }),
  }
}

function notImportable(draft: DraftContent): Diagnostic[] {
  if (draft.recording.required) return []
  const message =
    'Only agents with recording.required true can be imported: set it in config before you import this export'
  return [{ code: 'unsupported_capability', path: '/config/recording/required', message, severity: 'warning' }]
}
