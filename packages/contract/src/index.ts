export {
  action,
  edge,
  goBackCondition,
  identifier,
  instruction,
  type Json,
  jsonFault,
  modelRef,
  transitionCondition,
  variableName,
} from '@parley/nodes'
export { agentSummary, runState } from './agents/agent-summary.ts'
export { importConfig, modelBindings } from './agents/import-body.ts'
export { actionDescriptor } from './catalogue/actions.ts'
export { model } from './catalogue/models.ts'
export { voice } from './catalogue/voices.ts'
export type { JsonSchema } from './derived/json-schema.ts'
export { API_VERSION, type OpenApiDocument, openApiSteps, toOpenApi } from './derived/openapi.ts'
export { jsonPointer, parseInput, type RawInput } from './derived/parse-input.ts'
export { fromText } from './derived/text-input.ts'
export { type Tool, toTool } from './derived/tool.ts'
export { analysisItem } from './drafts/analysis-item.ts'
export type { Diagnostic } from './drafts/diagnostic.ts'
export { draftContent, draftResult, type Plan } from './drafts/draft.ts'
export { type DraftEdit, editSchema } from './drafts/draft-edit.ts'
export { agentKnowledge, analysis, inboundContext, notification, recording } from './drafts/draft-parts.ts'
export { component, flow } from './drafts/flow.ts'
export { KNOWN_WORDS } from './drafts/known-words.ts'
export { providers } from './drafts/providers.ts'
export { plannedSettings, settingValues } from './drafts/settings.ts'
export { type ErrorEnvelope, envelopeOf, type Issue } from './error-envelope.ts'
export { API_ERRORS, type ErrorCode, type ErrorReason } from './errors.ts'
export { knowledgeDocument, knowledgeStatus } from './knowledge/knowledge.ts'
export { minimumRole, type Operation, type RateClass, type Status } from './operation.ts'
export type { AnswerOf, Handler, InputOf, RequestOf, ResultOf } from './operation-types.ts'
export { type OperationId, type OperationNamed, operations, streams } from './operations.ts'
export { authOperations, type session } from './people/auth.ts'
export { publication } from './publications/publications.ts'
export {
  type Certificate,
  certificate,
  type GateEvidence,
  type gate,
  type ReleaseGate,
} from './publications/release-gate.ts'
export { Refusal } from './refusal.ts'
export { contentRef, recording as runRecording, utterance } from './runs/content.ts'
export { effectRecord } from './runs/effect.ts'
export { run } from './runs/run.ts'
export { timelineItem } from './runs/timeline.ts'
export { MAX_WEB_OFFER, readWebCandidates, readWebOffer } from './runs/web-offer.ts'
export { callLimit } from './telephony/call-limit.ts'
export { phoneNumber } from './telephony/numbers.ts'
export { trunk } from './telephony/trunks.ts'
export { testRun } from './test-runs/test-runs.ts'
export type { Assertion } from './test-suites/assertion.ts'
export type { JsonCondition } from './test-suites/json-condition.ts'
export { callerVoice, type ScriptedCaller, scriptedCaller } from './test-suites/scripted-caller.ts'
export type { SuiteSource } from './test-suites/suite-source.ts'
export { type TestCase, testCase } from './test-suites/test-case.ts'
export { type SuiteEdit, testSuite } from './test-suites/test-suites.ts'
export { alertDestinations } from './usage/alert-destinations.ts'
export { alertRule } from './usage/alerts.ts'
export { budget } from './usage/budget.ts'
export { rateCardFile } from './usage/usage.ts'
export { newAgentId, type Role, version } from './values/names.ts'
export { modelHosting, type PrincipalRef, type Scope } from './values/references.ts'
export { auditItem } from './workspace/audit.ts'
export { ownKeyProvider } from './workspace/provider-keys.ts'
export { secret, secretKind } from './workspace/secrets.ts'
export { tenantSettings } from './workspace/tenant-settings.ts'
