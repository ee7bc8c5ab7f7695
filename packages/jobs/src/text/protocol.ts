import type { Scope } from '@parley/contract'
import type { ActionRunner, ConversationOptions, EffectLedger } from '@parley/conversation'
import type { Plan } from '@parley/flow'
import type { RunKind } from '@parley/store'

/** Runs that are had in text, by what they wait as. */
export type TextKind = Extract<RunKind, 'chat' | 'task' | 'background'>

/** What an agent works with in one run. */
export interface TextAgent {
  readonly models: ConversationOptions['models']
  /** `ledger` is the run's own. */
  readonly actions: (ledger: EffectLedger) => ActionRunner
  readonly transferPolicy: ConversationOptions['transferPolicy']
}

interface TextAgentFacts {
  readonly scope: Scope
  readonly agent_id: string
  readonly version: number
}

/**
 * Everything a plan needs to be carried out. Throws `ParleyError` that names what is missing (`model_not_ready`, …): the
 * run then fails with `provider_failed`.
 */
export type TextAgents = (plan: Plan, facts: TextAgentFacts) => Promise<TextAgent>
