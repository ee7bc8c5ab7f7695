import type { FlowMode, FlowOptions, ModelRef, Plan } from '@parley/flow'
import type { Ms, Time, UnixMs } from '@parley/kernel'
import type { LanguageModel } from '@parley/providers'
import type { EffectLedger, PolicyDecision } from './ledger.ts'
import type { ActionRunner, CallFacts } from './ports.ts'
import type { ConversationEvent } from './protocol.ts'
import type { UsageReport } from './usage-report.ts'

export interface ConversationOptions {
  readonly plan: Plan
  readonly mode: FlowMode
  /** What the run was created with, and what the inbound context returned. */
  readonly variables?: NonNullable<FlowOptions['variables']>
  readonly call: CallFacts
  /** The model of a node; null: the agent's. May throw `ParleyError`: that counts as a failure of the model. */
  readonly models: (ref: ModelRef | null) => LanguageModel
  readonly actions: ActionRunner
  readonly ledger: EffectLedger
  readonly transferPolicy: (destination: string) => PolicyDecision
  readonly time: Time
  readonly wallClock: () => UnixMs
  /** The offset on the run's clock; null before media and in text. */
  readonly clock: () => Ms | null
  readonly onEvent: (event: ConversationEvent) => void
  /** Told what models were used for, as it is known: the last of it by the time that `settled` resolves. */
  readonly onUsage?: (usage: UsageReport) => void
  readonly budgets?: ConversationBudgets
}

interface ConversationBudgets {
  /** Until a model's first event, and from one to the next. Default 10 000. */
  readonly eventMs?: Ms
  /** A model's whole answer, a second try included. Default 60 000. */
  readonly answerMs?: Ms
  /** What the report of a speech that was withdrawn may take; then nothing of it counts as heard. Default 250. */
  readonly heardMs?: Ms
}
