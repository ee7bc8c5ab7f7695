import { type Diagnostic, draftContent, type ErrorCode, type ErrorReason, type Issue } from '@parley/contract'
import type { z } from 'zod'
import { DRAFT_LIMITS, draftBytes } from '../draft/limits.ts'
import {
  engineFault,
  formIssues,
  type ImportBody,
  type ImportConfig,
  nameIssues,
  versionIssues,
  webhookFault,
  webhookIssues,
} from './check-export.ts'
import { byPath, type NeededModel } from './import-findings.ts'
import { equal } from './json.ts'
import { type ReadExport, readExport } from './read-export.ts'
import { SourceLocation } from './source-location.ts'

export type DraftContent = z.output<typeof draftContent>

interface Refused<Code extends ErrorCode, Reason extends ErrorReason<Code> | undefined, Details> {
  readonly code: Code
  readonly reason: Reason
  readonly message: string
  readonly details: Details
}

/** Why an export is not imported: code, reason and details of the error response. Paths point into the body. */
export type ImportRefusal =
  | Refused<
      'invalid_request',
      'webhook_mismatch' | 'secret_not_found' | undefined,
      { readonly issues: readonly Issue[] }
    >
  | Refused<'capability_unavailable', 'unsupported_capability', { readonly issues: readonly Issue[] }>
  | Refused<'publication_invalid', 'model_binding_required', { readonly diagnostics: readonly Diagnostic[] }>

export type ImportResult =
  | { readonly ok: true; readonly draft: DraftContent; readonly warnings: readonly Diagnostic[] }
  | { readonly ok: false; readonly refusal: ImportRefusal }

interface ImportSecrets {
  /** The current version of the secret with that id; undefined: there is no such secret. */
  readonly secretVersion: (id: string) => string | undefined
}

/**
 * Reads an export in the conversation-flow format as a draft. Values that drafts have no field for are stored in
 * `source.unplaced`, each with a warning. Accepts any value and never throws. Faults of the draft itself (edges without a
 * destination, missing actions) are left to its validation.
 */
export function importExport(body: ImportBody, { secretVersion }: ImportSecrets): ImportResult {
  const misformed = formIssues({ ...body, model_bindings: body.model_bindings ?? null, config: body.config ?? null })
  if (misformed.length > 0) return invalid(misformed)
  const { agent, config, model_bindings: bindings } = body
  const unsupported = engineFault(agent)
  if (unsupported !== null)
    return refused({
      code: 'capability_unavailable',
      reason: 'unsupported_capability',
      message: unsupported,
      details: { issues: [{ path: '/agent/response_engine/type', message: unsupported }] },
    })
  const read = readExport({ ...body, agentVersion: body.agent_version }, bindings, config.webhook !== undefined)
  const issues = [
    ...versionIssues(agent, body.agent_version),
    ...nameIssues(agent),
    ...webhookIssues(config),
    ...unneededBindings(bindings, read.findings.models),
    ...actionIssues(read),
  ]
  if (issues.length > 0) return invalid(issues)
  const mismatch = webhookFault(agent, config)
  if (mismatch !== null) return invalid([{ path: '/agent/webhook_url', message: mismatch }], 'webhook_mismatch')
  const secret = config.webhook && pinned(config.webhook.secretRef, secretVersion)
  if (secret === null)
    return invalid(
      [{ path: '/config/webhook/secretRef', message: 'there is no such secret: create it, or set another' }],
      'secret_not_found',
    )
  const unbound = unboundModels(read.findings.models)
  if (unbound.length > 0)
    return refused({
      code: 'publication_invalid',
      reason: 'model_binding_required',
      message: 'model_bindings must have a model for the path of each diagnostic',
      details: { diagnostics: unbound },
    })
  return draftFrom(body, read, secret)
}

function draftFrom(body: ImportBody, read: ReadExport, secret: SecretRef | undefined): ImportResult {
  const { config } = body
  const parsed = draftContent.safeParse({
    name: body.agent.agent_name,
    settings: read.values.settings,
    providers: providersOf(config, read),
    telephony: config.telephony ? { ...config.telephony, from: config.telephony.from ?? null } : null,
    recording: { ...config.recording, ...read.values.recording },
    notification: secret ? { url: config.webhook!.url, secret, ...read.values.notification } : null,
    inbound_context: read.inboundContext,
    knowledge: read.knowledge,
    analysis: read.analysis,
    actions: read.actions,
    flow: read.flow,
    source: {
      kind: 'agent_import',
      agent_version: body.agent_version,
      flow_id: read.flowId,
      flow_version: read.flowVersion,
      unplaced: read.findings.unplaced,
    },
  })
  if (parsed.success && draftBytes(parsed.data) > DRAFT_LIMITS.bytes)
    return invalid([
      {
        path: '/flow',
        message: `the draft would have more than ${DRAFT_LIMITS.bytes} bytes: leave out what is not used`,
      },
    ])
  if (parsed.success)
    return { ok: true, draft: parsed.data, warnings: byPath([...read.findings.warnings, ...overruled(config, read)]) }
  // Each part was read by its own schema, so only limits on the whole draft can fail here.
  return invalid(
    parsed.error.issues
      .slice(0, MAX_ISSUES)
      .map(issue => ({ path: '/flow', message: `${issue.path.join('.')}: ${issue.message}` })),
  )
}

/** The providers of the agent; a model that is bound for the flow replaces the one in `config`. */
function providersOf(config: ImportConfig, { flowModel }: ReadExport): ImportConfig['providers'] {
  const { llm } = config.providers
  if (flowModel === null) return config.providers
  const { credential: ofConfig, ...others } = llm
  const isSameProvider = llm.model.provider === flowModel.model.provider
  const credential = flowModel.credential ?? (isSameProvider ? ofConfig : undefined)
  return { ...config.providers, llm: { ...others, model: flowModel.model, ...(credential && { credential }) } }
}

function overruled({ providers: { llm } }: ImportConfig, { flowModel }: ReadExport): Diagnostic[] {
  if (flowModel === null || equal(flowModel.model, llm.model)) return []
  const message = 'model_bindings has another model for /flow/model_choice, which the agent uses instead'
  return [{ code: 'field_ignored', path: '/config/providers/llm/model', message, severity: 'warning' }]
}

interface SecretRef {
  readonly id: string
  readonly version: string
}

/** Resolves `id` or `id@version`; null: there is no such secret. */
function pinned(reference: string, secretVersion: ImportSecrets['secretVersion']): SecretRef | null {
  const at = reference.indexOf('@')
  const id = at === -1 ? reference : reference.slice(0, at)
  const current = secretVersion(id)
  const version = at === -1 ? current : reference.slice(at + 1)
  return current === undefined || version === undefined || version === '' ? null : { id, version }
}

/** Maximum issues, and maximum unbound models, in an answer. */
const MAX_ISSUES = 100
const MAX_UNBOUND = 1000

/** An error for each model without a binding, at most {@link MAX_UNBOUND}. */
export function unboundModels(models: readonly NeededModel[]): Diagnostic[] {
  const unbound = models.filter(model => !model.bound).slice(0, MAX_UNBOUND)
  return byPath(
    unbound.map(({ path, sourceModel }) => ({
      code: 'model_binding_required',
      path,
      message: `Add the model to use to model_bindings under this path: the export names ${sourceModel === null ? 'none' : `\`${[...sourceModel].slice(0, 256).join('')}\``}`,
      severity: 'error',
    })),
  )
}

/** Issues with bindings for paths at which the export has no model. */
export function unneededBindings(bindings: ImportBody['model_bindings'], models: readonly NeededModel[]): Issue[] {
  const needed = new Set(models.map(model => model.path))
  return Object.keys(bindings)
    .filter(path => !needed.has(path))
    .slice(0, MAX_ISSUES)
    .map(path => ({
      path: new SourceLocation(['model_bindings', path]).path,
      message: 'the export has no model at this path: remove the binding',
    }))
}

export function actionIssues({ actions }: ReadExport): Issue[] {
  if (actions.length <= DRAFT_LIMITS.actions) return []
  return [
    {
      path: '/flow/tools',
      message: `more than ${DRAFT_LIMITS.actions} tools, including those of components and subagents: leave out what is not used`,
    },
  ]
}

function refused(refusal: ImportRefusal): ImportResult {
  return { ok: false, refusal }
}

function invalid(issues: readonly Issue[], reason?: 'webhook_mismatch' | 'secret_not_found'): ImportResult {
  const message = `${issues[0]!.path}: ${issues[0]!.message}`
  return refused({ code: 'invalid_request', reason, message, details: { issues } })
}
