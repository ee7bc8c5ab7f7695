import type { TestCase } from '@parley/contract'
import type { ConversationOptions } from '@parley/conversation'
import type { Plan } from '@parley/flow'
import type { Random, Time, UnixMs } from '@parley/kernel'
import type { LanguageModel } from '@parley/providers'
import type { TextCaller } from './caller-move.ts'

/** One trial of a case: what it needs to run. */
export interface TrialOptions {
  readonly plan: Plan
  readonly agentId: string
  readonly agentVersion: number
  /** Of the trial's run. */
  readonly runId: string
  readonly testCase: TestCase
  readonly models: ConversationOptions['models']
  readonly time: Time
  readonly wallClock: () => UnixMs
  /** Seeded, so that a trial with the simulated services can be repeated. */
  readonly random: Random
  /** Default: the caller of the case. */
  readonly caller?: TextCaller
  /** Aborts when the trial is cancelled or another process has it. */
  readonly signal: AbortSignal
}

/** The model that plays personas and judges: the agent's own; null: it is the built-in rules, which cannot. */
export function assistantModel(models: ConversationOptions['models']): LanguageModel | null {
  const model = models(null)
  return model.identity.model === 'rules-1' ? null : model
}
