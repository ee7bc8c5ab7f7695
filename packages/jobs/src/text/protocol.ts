import type { Scope } from '@parley/contract'
import type { ActionRunner, ConversationOptions, EffectLedger } from '@parley/conversation'
import type { Plan } from '@parley/flow'
import type { RunKind } from '@parley/store'

/** The kinds of runs without a call. */
export type TextKind = Extract<RunKind, 'chat' | 'task' | 'background'>

/** The services of an agent in one run. */
export interface TextAgent {
  readonly models: ConversationOptions['models']
  /** Makes the runner of the agent's actions; `ledger` is the run's own. */
  readonly actions: (ledger: EffectLedger) => ActionRunner
  /** Searches the documents of the agent's environment; default: it answers without documents. */
  readonly knowledge?: ConversationOptions['knowledge']
  readonly transferPolicy: ConversationOptions['transferPolicy']
}

interface TextAgentFacts {
  readonly scope: Scope
  readonly agent_id: string
  readonly version: number
}

/**
 * Makes the services of a plan. Rejects with a `ParleyError` that names the missing one (`model_not_ready`, …); the run then
 * fails with `provider_failed`.
 */
export type TextAgents = (plan: Plan, facts: TextAgentFacts) => Promise<TextAgent>
