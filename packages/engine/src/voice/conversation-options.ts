import type { ConversationOptions } from '@parley/conversation'
import type { Language } from '@parley/flow'
import { modelBudgets } from './silence-budgets.ts'
import type { VoiceAgent, VoiceCallFacts } from './voice-agent.ts'

type AgentOptions = Omit<ConversationOptions, 'time' | 'wallClock' | 'clock' | 'onEvent' | 'onUsage'>

/** Options of a conversation on a call, from its agent and the facts of the call. `languages`: those that the agent can speak. */
export function conversationOptions(
  agent: VoiceAgent,
  facts: VoiceCallFacts,
  languages: readonly Language[],
): AgentOptions {
  const ledger = agent.ledger()
  return {
    plan: agent.plan,
    mode: { channel: 'phone', hasCaller: true },
    variables: {
      ...(facts.variables && { run: facts.variables }),
      ...(facts.context && { inbound_context: facts.context }),
    },
    ...(facts.history && { history: facts.history }),
    call: facts.call,
    languages,
    models: agent.model,
    actions: agent.actions(ledger),
    knowledge: agent.knowledge,
    ledger,
    transferPolicy: agent.transferPolicy,
    budgets: modelBudgets(agent),
    ...(agent.fallbackModels && { fallbackModels: agent.fallbackModels }),
  }
}
