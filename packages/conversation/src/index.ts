export type { HttpActionsOptions } from './actions/action-use.ts'
export { HttpActions } from './actions/http-actions.ts'
export type { Secrets } from './actions/secrets.ts'
export { Conversation } from './conversation.ts'
export type { ConversationBudgets, ConversationOptions } from './conversation-options.ts'
export { InMemoryEffectLedger, type InMemoryEffectLedgerOptions } from './in-memory-effect-ledger.ts'
export type {
  EffectIntent,
  EffectKind,
  EffectLedger,
  EffectRecord,
  EffectState,
  PolicyDecision,
  PolicyReason,
  Receipt,
} from './ledger.ts'
export type { PreemptiveGenerationReport } from './model/preemptive-generation.ts'
export { readBrief } from './model/read-brief.ts'
export type { ActionOutcome, ActionPhase, ActionRequest, ActionRunner, CallFacts } from './ports.ts'
export type { ConversationEvent, Span, SpokenReport, UserTurn } from './protocol.ts'
export { TextSession, type TextSessionOptions } from './text-session.ts'
export type { TimelineFact, TimelineItem } from './timeline.ts'
export { TimelineRecorder } from './timeline-recorder.ts'
export type { TurnLatency, Utterance } from './transcript.ts'
export type { Used } from './used.ts'
