export {
  ANSWER_TO,
  ANSWER_WITHOUT_LEG,
  type CodeAction,
  type EffectAction,
  type HttpAction,
  type Instruction,
  isHttpAction,
  isLegRequest,
  type LegAnswer,
  type LegRequest,
  type McpAction,
  type ModelRef,
  messageText,
  propertyDescription,
  propertyNames,
  type SecretRef,
  type SmsAction,
  type VariableItem,
} from '@parley/nodes'
export { applyEdits, type EditsApplied } from './draft/apply-edits.ts'
export type { DraftEnvironment } from './draft/draft-environment.ts'
export { type Publishable, planOf } from './draft/publish.ts'
export { unreadyIn } from './draft/readiness.ts'
export { fromTemplate } from './draft/templates.ts'
export { validate } from './draft/validate.ts'
export { exportDraft } from './exchange/export-draft.ts'
export { type ExportFile, readExportFile } from './exchange/export-file.ts'
export { type ImportRefusal, importExport } from './exchange/import-export.ts'
export { type Inspection, inspectExport } from './exchange/inspect-export.ts'
export type { Expectation } from './interpreter/expectation.ts'
export type { FlowMode } from './interpreter/flow-context.ts'
export { FlowInterpreter, type FlowOptions } from './interpreter/flow-interpreter.ts'
export type {
  ActionRefusal,
  Choice,
  FlowInput,
  FlowOutcome,
  FlowOutput,
  NodeTurnSettings,
  PromptReason,
  ToolSpec,
} from './interpreter/protocol.ts'
export { render } from './interpreter/template.ts'
export type { AnalysisItem } from './plan/analysis-item.ts'
export { compile } from './plan/compile.ts'
export type { Diagnostic } from './plan/diagnostic.ts'
export { type Draft, type DraftContent, readDraft } from './plan/draft.ts'
export { type Language, languagesOf } from './plan/languages.ts'
export type { Plan } from './plan/plan.ts'
export type { Providers } from './plan/references.ts'
export { type DestinationRules, judgeDestination } from './policy/destination.ts'
export { POLICY_VERSION } from './policy/policy-version.ts'
