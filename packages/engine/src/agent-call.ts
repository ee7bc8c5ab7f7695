import type { CallFacts, UsageReport } from '@parley/conversation'
import type { Random, Time, UnixMs } from '@parley/kernel'
import type { CallLeg } from '@parley/leg'
import { Call, type CallEvent } from './call.ts'
import { Ticker } from './ticker.ts'
import { type CallRecording, recordedInputs } from './voice/call-inputs.ts'
import type { VoiceAgent } from './voice/voice-agent.ts'
import { VoiceConversation } from './voice/voice-conversation.ts'

interface AgentCallOptions {
  readonly leg: CallLeg
  readonly agent: VoiceAgent
  readonly time: Time
  readonly wallClock: () => UnixMs
  readonly random: Random
  /** Default null. */
  readonly runId?: string
  /** Initial values of the flow's variables. */
  readonly variables?: Readonly<Record<string, string>>
  readonly onUsage?: (usage: UsageReport) => void
  readonly onEvent?: (event: CallEvent, call: Call) => void
  readonly recording?: CallRecording
}

/** A call in which an agent talks, on any clock, without a run in the database. */
export function agentCall(options: AgentCallOptions): Call {
  const { leg, agent, time, wallClock, random, runId = null, variables = {}, onUsage, onEvent, recording } = options
  const call: CallFacts = {
    run_id: runId,
    agent_id: agent.agentId,
    agent_version: agent.agentVersion,
    channel: 'phone',
    from_number: null,
    to_number: null,
  }
  return new Call({
    leg,
    time,
    ticker: new Ticker(time),
    createHandler: line => {
      const facts = { call, variables }
      const inputs = recording && recordedInputs(recording, { agent, leg, facts, time, wallClock, random })
      return new VoiceConversation({
        agent,
        facts,
        line,
        time,
        wallClock,
        random,
        ...(onUsage !== undefined && { onUsage }),
        ...(inputs && { inputs }),
      })
    },
    ...(onEvent !== undefined && { onEvent }),
  })
}
