import type { Diagnostic, Issue, Json, modelBindings, OperationNamed, ResultOf } from '@parley/contract'
import type { z } from 'zod'
import {
  engineFault,
  exportedVersion,
  formIssues,
  type ImportConfig,
  nameIssues,
  versionIssues,
  webhookFault,
  webhookIssues,
} from './check-export.ts'
import { actionIssues, unboundModels, unneededBindings } from './import-export.ts'
import { byPath } from './import-findings.ts'
import { given, isObject, type JsonObject } from './json.ts'
import { notExecutedMembers } from './not-executed.ts'
import { isCount, readExport } from './read-export.ts'

export type Inspection = ResultOf<OperationNamed<'agents.import_inspect'>>

interface InspectBody {
  readonly agent: JsonObject
  readonly flow: JsonObject
  readonly agent_version?: number | undefined
  readonly config?: ImportConfig | undefined
  readonly model_bindings?: z.output<typeof modelBindings> | undefined
}

/** Reports what an import of this export would find: its contents, the models that it needs, and each warning and refusal. Never throws. */
export function inspectExport(body: InspectBody): Inspection {
  const misformed = formIssues(Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined)))
  if (misformed.length > 0) return { ...NOTHING, diagnostics: byPath(misformed.map(asDiagnostic)) }
  const { agent, flow, config, model_bindings: bindings = {} } = body
  const source = exportedVersion(agent) as Json | undefined
  const exported = isCount(source) && source <= MAX_VERSION ? source : null
  const version = body.agent_version ?? exported
  const hasWebhook = config ? config.webhook !== undefined : given(agent, 'webhook_url') !== undefined
  const read = readExport({ agent, flow, agentVersion: version }, bindings, hasWebhook)
  const { models, warnings } = read.findings
  const issues = [
    ...(body.agent_version === undefined ? [] : versionIssues(agent, body.agent_version)),
    ...nameIssues(agent),
    ...(config ? webhookIssues(config) : []),
    ...unneededBindings(bindings, models),
    ...actionIssues(read),
  ]
  return {
    agent_name: typeof agent.agent_name === 'string' ? agent.agent_name : '',
    agent_version: version,
    flow_id: read.flowId,
    flow_version: read.flowVersion,
    languages: languagesOf(agent.language),
    node_types: nodeTypes(flow),
    model_bindings: models.map(({ path, sourceModel, bound }) => ({ path, source_model: sourceModel, bound })),
    diagnostics: byPath([
      ...issues.map(asDiagnostic),
      ...refusals(agent, config),
      ...unboundModels(models),
      ...warnings,
      ...notExecutedMembers(read, { agent, flow }, config),
    ]),
  }
}

const MAX_VERSION = 2_147_483_647

const NOTHING: Inspection = {
  agent_name: '',
  agent_version: null,
  flow_id: null,
  flow_version: null,
  languages: [],
  node_types: {},
  model_bindings: [],
  diagnostics: [],
}

function refusals(agent: JsonObject, config: ImportConfig | undefined): Diagnostic[] {
  const engine = engineFault(agent)
  const webhook = webhookFault(agent, config)
  const error = (code: string, path: string, message: string): Diagnostic => ({
    code,
    path,
    message,
    severity: 'error',
  })
  return [
    ...(engine === null ? [] : [error('unsupported_capability', '/agent/response_engine/type', engine)]),
    ...(webhook === null ? [] : [error('webhook_mismatch', '/agent/webhook_url', webhook)]),
  ]
}

function asDiagnostic({ path, message }: Issue): Diagnostic {
  return { code: 'invalid_request', path, message, severity: 'error' }
}

function languagesOf(language: Json | undefined): string[] {
  const list = Array.isArray(language) ? language : [language]
  return list.filter(one => typeof one === 'string' && one !== '') as string[]
}

/** Number of nodes of each type, including those of components. */
function nodeTypes(flow: JsonObject): Record<string, number> {
  const components = Array.isArray(flow.components) ? flow.components.filter(isObject) : []
  const counts = new Map<string, number>()
  for (const owner of [flow, ...components])
    for (const node of Array.isArray(owner.nodes) ? owner.nodes : []) {
      const type = isObject(node) ? node.type : undefined
      // An object cannot have a member of this name.
      if (typeof type === 'string' && type !== '__proto__') counts.set(type, (counts.get(type) ?? 0) + 1)
    }
  return Object.fromEntries(counts)
}
