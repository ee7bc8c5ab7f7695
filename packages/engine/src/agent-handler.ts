import type { UsageReport } from '@parley/conversation'
import { systemRandom, type Time } from '@parley/kernel'
import type { HandlerFactory } from './call-plan.ts'
import { type CallRecording, recordedInputs } from './voice/call-inputs.ts'
import type { VoiceAgent, VoiceCallFacts } from './voice/voice-agent.ts'
import { VoiceConversation } from './voice/voice-conversation.ts'

interface AgentHandlerOptions {
  readonly agent: VoiceAgent
  readonly facts: VoiceCallFacts
  readonly time: Time
  /** Called with the usage of services as it becomes known. */
  readonly onUsage?: (usage: UsageReport) => void
  readonly recording?: CallRecording
}

/** Handlers in which this agent talks on the call. */
export function agentHandler({ agent, facts, time, onUsage, recording }: AgentHandlerOptions): HandlerFactory {
  return line => {
    const sources = { time, wallClock: Date.now, random: systemRandom }
    const inputs = recording && recordedInputs(recording, { agent, leg: line.leg, facts, ...sources })
    return new VoiceConversation({
      agent,
      facts,
      line,
      ...sources,
      ...(onUsage && { onUsage }),
      ...(inputs && { inputs }),
    })
  }
}
