import type { SwapRequest } from '@parley/conversation'
import type { Time } from '@parley/kernel'
import type { CallLeg, SipCallLeg } from '@parley/leg'
import { type OwnedRun, type RunLeases, SuccessorRuns, SwapRefusal } from '@parley/runs'
import type { Database, SuccessorPublication } from '@parley/store'
import type { Call, Successor } from '../call.ts'
import type { CallLadders } from '../ladder/call-ladders.ts'
import type { VoiceAgent } from '../voice/voice-agent.ts'
import type { AgentFactory } from './agent-factory.ts'
import { startingCall } from './call-memory.ts'
import { CallRecord, type CallRecordEnd, undialled } from './call-record.ts'
import { openRecording, type Recordings } from './recordings.ts'
import { type CallSwaps, callOwner, factsOf, type ReadyRun, runHandler, wantsRecording } from './run-plan.ts'

interface AgentSwapsOptions {
  readonly database: Database
  readonly leases: RunLeases
  readonly agents: AgentFactory
  readonly recordings: Recordings
  /** Default: no SIP messages are stored. */
  readonly ladders?: CallLadders
  readonly time: Time
  readonly onOver: (run: OwnedRun, end: CallRecordEnd) => void
  readonly onProblem: (what: string, error: unknown) => void
}

/** Prepares runs that continue the calls of other runs, each with an agent of its own. */
export class AgentSwaps implements CallSwaps {
  readonly #options: AgentSwapsOptions
  readonly #successors: SuccessorRuns

  constructor(options: AgentSwapsOptions) {
    this.#options = options
    this.#successors = new SuccessorRuns(options)
  }

  prepare(
    source: ReadyRun,
    request: SwapRequest,
    effectId: string,
    call: Call,
  ): Promise<(Successor & { readonly run: OwnedRun }) | null> {
    const { agents } = this.#options
    const { run, start, handOvers = 0 } = source
    const { scope } = run
    // Web calls are calls: an agent that takes phone calls takes them.
    return this.#successors.prepare({ run, channel: 'phone', handOvers }, request, effectId, {
      agent: ({ agent_id, version, plan }) => {
        if (wantsRecording(plan) && !wantsRecording(start.plan))
          throw new SwapRefusal('recording_unavailable', 'it must record its calls, and this call is not recorded')
        return agents.create({ scope, agent_id, version, plan: continuingPlan(plan, source, request) })
      },
      variables: () => ({ ...start.dynamic_variables, ...call.variables }),
      begin: (own, agent) => {
        const successor = { ...source, run: own, handOvers: handOvers + 1 }
        return this.#begin(successor, withVoice(agent, source, request), call.leg)
      },
    })
  }

  /** The run exists: it is the successor, or ends here. */
  async #begin(
    ready: Omit<ReadyRun, 'record'>,
    agent: VoiceAgent,
    leg: CallLeg,
  ): Promise<Successor & { readonly run: OwnedRun }> {
    const { database, recordings, ladders, onOver, onProblem } = this.#options
    const { run, time, beforeFinish } = ready
    const { channel } = ready.start
    const record = new CallRecord({
      run,
      direction: leg.direction,
      channel: channel === 'web' ? 'web' : 'phone',
      continues: true,
      time,
      recordings,
      ...(beforeFinish && { beforeFinish: () => beforeFinish(run) }),
      onOver: end => onOver(run, end),
    })
    record.enter('preparing')
    try {
      const start = await startingCall(database, run.scope, run.runId, onProblem)
      if (start === null) throw new TypeError(`run ${run.runId} was admitted and is not in the database`)
      const recording = wantsRecording(agent.plan) ? await openRecording(recordings, run) : null
      const { dialog } = leg as Partial<SipCallLeg>
      if (dialog != null) await run.persistDialog({ ...dialog })
      const own: ReadyRun = { ...ready, start, agent, record }
      return {
        ...callOwner(own),
        recording,
        createHandler: (line, { history }) => runHandler(own, { ...factsOf(start), history })(line),
        onCall: call => {
          if (channel === 'phone') record.keepLadder(ladders, leg.callId)
          record.onCall(call)
        },
        onAbandoned: () => void record.abandon(CALLER_GONE),
      }
    } catch (error) {
      await record.abandon(undialled('recording_unavailable'))
      throw error
    }
  }
}

type Plan = SuccessorPublication['plan']

/** The plan of an agent that continues a call: what answered the call is known, and the language may be that of the agent before. */
function continuingPlan(plan: Plan, { agent }: ReadyRun, request: SwapRequest): Plan {
  const { settings } = plan
  const { voicemail, ivr, callScreening } = settings
  return {
    ...plan,
    settings: {
      ...settings,
      ...(request.keep_current_language && { language: agent.plan.settings.language }),
      voicemail: { ...voicemail, enabled: false },
      ivr: { ...ivr, enabled: false },
      callScreening: { ...callScreening, enabled: false },
    },
  }
}

function withVoice(agent: VoiceAgent, { agent: before }: ReadyRun, request: SwapRequest): VoiceAgent {
  if (!request.keep_current_voice) return agent
  const { voice, voiceId, otherVoiceIds = {}, fallbackVoices = [] } = before
  return { ...agent, voice, voiceId, otherVoiceIds, fallbackVoices }
}

/** The caller hung up before the agent had the call. */
const CALLER_GONE: Parameters<CallRecord['abandon']>[0] = {
  state: 'completed',
  phone_state: 'ended',
  outcome: { kind: 'caller_hung_up', detail: null, sip_status: null, ended_by: 'caller' },
  disposition: 'caller_hung_up',
}
