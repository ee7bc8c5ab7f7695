export {
  action,
  decimal,
  e164,
  edge,
  equation,
  goBackCondition,
  identifier,
  instruction,
  type Json,
  json,
  jsonFault,
  jsonObject,
  MAX_JSON_DEPTH,
  type ModelIdentity,
  modelIdentity,
  modelRef,
  node,
  nodeId,
  notBlank,
  secretRef,
  slot,
  stringMap,
  text,
  transitionCondition,
  uri,
  variableItem,
  variableName,
  variableValue,
} from '@parley/nodes'
export { agentSummary, runState } from './agents/agent-summary.ts'
export { exportConfig, importConfig, modelBindings } from './agents/import-body.ts'
export { actionDescriptor, effectKind } from './catalogue/actions.ts'
export { model } from './catalogue/models.ts'
export { voice } from './catalogue/voices.ts'
export { hasRequiredMember, type JsonSchema, jsonSchema } from './derived/json-schema.ts'
export { API_VERSION, type OpenApiDocument, toOpenApi } from './derived/openapi.ts'
export { jsonPointer, type ParsedInput, parseInput, type RawInput } from './derived/parse-input.ts'
export { fromText, toText } from './derived/text-input.ts'
export { type Tool, toolInput, toTool } from './derived/tool.ts'
export { analysisItem } from './drafts/analysis-item.ts'
export { type Diagnostic, diagnostic, diagnosticFix } from './drafts/diagnostic.ts'
export { draft, draftContent, draftResult, plan } from './drafts/draft.ts'
export { type DraftEdit, draftEdit, draftEdits } from './drafts/draft-edit.ts'
export { agentKnowledge, analysis, inboundContext, notification, recording, telephony } from './drafts/draft-parts.ts'
export { component, flow } from './drafts/flow.ts'
export { providers } from './drafts/providers.ts'
export { plannedSettings, settingName, settingValues } from './drafts/settings.ts'
export { type ErrorEnvelope, envelopeOf, errorEnvelope, type Issue } from './error-envelope.ts'
export {
  ERROR_CODES,
  ERROR_REASONS,
  ERROR_STATUS,
  type ErrorCode,
  type ErrorReason,
  isRetryable,
  type Refusals,
} from './errors.ts'
export {
  type Hints,
  type Idempotency,
  type MediaType,
  type Method,
  minimumRole,
  type Operation,
  type OperationKind,
  operation,
  type PermissionScope,
  type RateClass,
  SCOPE_ROLE,
  type Status,
} from './operation.ts'
export type { AnswerOf, Handler, InputOf, RequestOf, ResultOf } from './operation-types.ts'
export { type OperationId, type OperationNamed, operations, streams } from './operations.ts'
export { publication } from './publications/publications.ts'
export { Refusal } from './refusal.ts'
export { contentRef, recording as runRecording, transcript, utterance } from './runs/content.ts'
export { effectRecord } from './runs/effect.ts'
export { run } from './runs/run.ts'
export { timelineItem } from './runs/timeline.ts'
export { callLimit } from './telephony/call-limit.ts'
export { phoneNumber } from './telephony/numbers.ts'
export { trunk } from './telephony/trunks.ts'
export { budget } from './usage/budget.ts'
export { rateCard, rateCardFile } from './usage/usage.ts'
export {
  agentId,
  channel,
  digest,
  environmentName,
  language,
  newAgentId,
  type Role,
  revision,
  role,
  secretId,
  trunkId,
  uuid,
  version,
} from './values/names.ts'
export { listQuery, page } from './values/page.ts'
export {
  agentReference,
  modelHosting,
  type PrincipalRef,
  principalRef,
  publicationRef,
  type Scope,
  scope,
} from './values/references.ts'
export { instant, timestamp } from './values/time.ts'
export { auditItem } from './workspace/audit.ts'
export { environment } from './workspace/environments.ts'
export { apiKey, apiKeyCreated } from './workspace/keys.ts'
export { secret, secretKind } from './workspace/secrets.ts'
export { tenantSettings } from './workspace/tenant-settings.ts'
