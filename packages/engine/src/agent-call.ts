import type { CallFacts, UsageReport } from '@parley/conversation'
import type { Random, Time, UnixMs } from '@parley/kernel'
import type { CallLeg } from '@parley/leg'
import { Call, type CallEvent } from './call.ts'
import { Ticker } from './ticker.ts'
import { type InputLogVersions, RecordedCall } from './voice/call-inputs.ts'
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
  /** Logs the inputs of the call, so that it can be replayed. Default: they are not logged. */
  readonly recording?: {
    readonly versions: InputLogVersions
    readonly onRecorded: (recorded: RecordedCall) => void
  }
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
      const recorded =
        recording && new RecordedCall({ versions: recording.versions, agent, leg, facts, time, wallClock, random })
      if (recorded !== undefined) recording?.onRecorded(recorded)
      return new VoiceConversation({
        agent,
        facts,
        line,
        time,
        wallClock,
        random,
        ...(onUsage !== undefined && { onUsage }),
        ...(recorded !== undefined && { inputs: recorded.inputs }),
      })
    },
    ...(onEvent !== undefined && { onEvent }),
  })
}
