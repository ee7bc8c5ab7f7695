import type { FlowMode, FlowOptions, Language, ModelRef, Plan } from '@parley/flow'
import type { Ms, Time, UnixMs } from '@parley/kernel'
import type { ChatMessage, LanguageModel } from '@parley/providers'
import type { EffectLedger, PolicyDecision } from './ledger.ts'
import type { ActionRunner, CallFacts, KnowledgeSearcher } from './ports.ts'
import type { ConversationEvent } from './protocol.ts'
import type { UsageReport } from './usage-report.ts'

export interface ConversationOptions {
  readonly plan: Plan
  readonly mode: FlowMode
  /** Variables that the run was created with, and those that the inbound context returned. */
  readonly variables?: NonNullable<FlowOptions['variables']>
  /** What was heard before, in the conversation of another agent that this one continues. Default: nothing. */
  readonly history?: readonly ChatMessage[]
  readonly call: CallFacts
  /** What the agent can speak and understand, the language of the beginning first. Default the languages of the plan. */
  readonly languages?: readonly Language[]
  /**
   * The model of a node; null: the agent's. `isAhead`, default false: it is asked before the caller's turn is certainly over, and its
   * answer may go unused. May throw `ParleyError`: that counts as a failure of the model.
   */
  readonly models: (ref: ModelRef | null, isAhead?: boolean) => LanguageModel
  /** Models that are asked when another is late or has failed, in this order. Default none. */
  readonly fallbackModels?: readonly LanguageModel[]
  readonly actions: ActionRunner
  /** Searches the agent's documents. Default: the agent answers without documents. */
  readonly knowledge?: KnowledgeSearcher | undefined
  readonly ledger: EffectLedger
  readonly transferPolicy: (destination: string) => PolicyDecision
  readonly time: Time
  readonly wallClock: () => UnixMs
  /** The offset on the run's clock; null before media and in text. */
  readonly clock: () => Ms | null
  readonly onEvent: (event: ConversationEvent) => void
  /** Called for each usage of a model; the last call comes before `settled` resolves. */
  readonly onUsage?: (usage: UsageReport) => void
  readonly budgets?: ConversationBudgets
}

interface ConversationBudgets {
  /** Maximum wait for a model's first event and between two events. Default 10 000. */
  readonly eventMs?: Ms
  /** A model without a first event after this time is late: a fallback, or the same model again, is asked as well. Default: never. */
  readonly lateAfterMs?: Ms
  /** Maximum duration of a model's whole answer, including a retry. Default 60 000. */
  readonly answerMs?: Ms
  /** Maximum wait for a search of documents that was not begun while the caller spoke. Default 2000 in text, 150 otherwise. */
  readonly knowledgeMs?: Ms
  /** Maximum wait for the playback report of a withdrawn speech; after it, nothing counts as heard. Default 250. */
  readonly heardMs?: Ms
}
