export { action as actionSchema } from '@parley/contract'
export { applyEdits, type EditsApplied } from './draft/apply-edits.ts'
export type { DraftEnvironment } from './draft/draft-environment.ts'
export { DRAFT_LIMITS, draftBytes } from './draft/limits.ts'
export { digestOf, type Publishable, planOf } from './draft/publish.ts'
export { type Needed, unreadyIn } from './draft/readiness.ts'
export { fromTemplate, type TemplateFacts, type TemplateName } from './draft/templates.ts'
export { validate } from './draft/validate.ts'
export type { ImportBody } from './exchange/check-export.ts'
export { type ExportedDraft, exportDraft } from './exchange/export-draft.ts'
export { type ImportRefusal, type ImportResult, type ImportSecrets, importExport } from './exchange/import-export.ts'
export { type InspectBody, type Inspection, inspectExport } from './exchange/inspect-export.ts'
export { equationHolds } from './interpreter/equation.ts'
export type { FlowMode } from './interpreter/flow-context.ts'
export { FlowInterpreter, type FlowOptions } from './interpreter/flow-interpreter.ts'
export type {
  Choice,
  FlowInput,
  FlowOutcome,
  FlowOutput,
  NodeCause,
  NodeTurnSettings,
  PromptReason,
  ToolSpec,
} from './interpreter/protocol.ts'
export { valueAt } from './interpreter/response-path.ts'
export type { FlowState } from './interpreter/state.ts'
export { references, render } from './interpreter/template.ts'
export type { Action, HttpAction } from './plan/action.ts'
export type { AnalysisItem, VariableItem } from './plan/analysis-item.ts'
export { type Compilation, compile } from './plan/compile.ts'
export type { Diagnostic, DiagnosticCode, DiagnosticFix } from './plan/diagnostic.ts'
export { type Draft, type DraftContent, readDraft, tryReadDraft } from './plan/draft.ts'
export type { Edge, EdgeSlot, Equation, TransitionCondition } from './plan/edge.ts'
export type { Component, Flow } from './plan/flow.ts'
export type { Instruction } from './plan/instruction.ts'
export { type Language, languagesOf } from './plan/languages.ts'
export { isSystemVariable, isVariableName } from './plan/names.ts'
export type { FlowNode, NodeType } from './plan/node.ts'
export { PLAN_SCHEMA_VERSION, type Plan, planSchema } from './plan/plan.ts'
export type { ModelIdentity, ModelRef, Providers, SecretRef } from './plan/references.ts'
export type { Settings } from './plan/settings.ts'
export { type DestinationRules, type DestinationVerdict, judgeDestination } from './policy/destination.ts'
export { POLICY_VERSION } from './policy/policy-version.ts'
