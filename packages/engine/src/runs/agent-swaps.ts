import { randomUUID } from 'node:crypto'
import { type Ms, ParleyError, withDeadline } from '@parley/kernel'
import type { CallLeg, SipCallLeg } from '@parley/leg'
import type { OwnedRun, RunLeases } from '@parley/runs'
import {
  admitSuccessor,
  type Database,
  type SuccessorAdmission,
  type SuccessorPublication,
  successorPublication,
} from '@parley/store'
import type { Call, Successor } from '../call.ts'
import type { SwapRequest } from '../call-handler.ts'
import type { CallLadders } from '../ladder/call-ladders.ts'
import type { VoiceAgent } from '../voice/voice-agent.ts'
import type { AgentFactory } from './agent-factory.ts'
import { startingCall } from './call-memory.ts'
import { CallRecord, type CallRecordEnd, undialled } from './call-record.ts'
import { openRecording, type Recordings } from './recordings.ts'
import { type CallSwaps, callOwner, factsOf, type ReadyRun, runHandler, wantsRecording } from './run-plan.ts'

/** Agents that hand a call to each other would do so for ever. */
const MAX_HAND_OVERS = 10
/** An agent whose services are not ready by then gets no call: the caller waits. */
const READY_WITHIN_MS: Ms = 10_000
const MAX_VARIABLES = 100

interface AgentSwapsOptions {
  readonly database: Database
  readonly leases: RunLeases
  readonly agents: AgentFactory
  readonly recordings: Recordings
  /** Default: no SIP messages are stored. */
  readonly ladders?: CallLadders
  readonly onOver: (run: OwnedRun, end: CallRecordEnd) => void
  readonly onProblem: (what: string, error: unknown) => void
}

/** No agent can continue the call; the code and the message stand in the timeline of the run that asked. */
class SwapRefusal extends Error {
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

/** Admits runs that continue the calls of other runs, each with an agent of its own. */
export class AgentSwaps implements CallSwaps {
  readonly #options: AgentSwapsOptions

  constructor(options: AgentSwapsOptions) {
    this.#options = options
  }

  async prepare(source: ReadyRun, request: SwapRequest, effectId: string, call: Call): Promise<Successor | null> {
    try {
      return await this.#prepare(source, request, effectId, call)
    } catch (error) {
      const code = error instanceof SwapRefusal || error instanceof ParleyError ? error.code : 'internal'
      const why = error instanceof SwapRefusal ? error.message : 'it is not ready'
      if (!(error instanceof SwapRefusal))
        this.#options.onProblem(`run ${source.run.runId} cannot hand its call to "${request.agent_id}"`, error)
      const message = `The agent "${request.agent_id}" does not take over the call: ${why}.`
      source.run.note({ kind: 'error', code, message })
      return null
    }
  }

  async #prepare(source: ReadyRun, request: SwapRequest, effectId: string, call: Call): Promise<Successor> {
    const { agents, leases } = this.#options
    const { run, time, handOvers = 0 } = source
    const { scope } = run
    if (handOvers >= MAX_HAND_OVERS)
      throw new SwapRefusal('too_many_swaps', `the call was handed over ${MAX_HAND_OVERS} times already`)
    const deadline = time.now() + READY_WITHIN_MS
    const publication = await this.#publication(source, request)
    const { agent_id, version } = publication
    const plan = continuingPlan(publication.plan, source, request)
    const ready = agents.create({ scope, agent_id, version, plan })
    const agent = await withDeadline(time, deadline, new AbortController().signal, ready)
    if (agent === null) throw new SwapRefusal('agent_not_ready', 'its services are not ready')
    const admission = await this.#admit(source, publication, effectId, call)
    if (admission.kind === 'lost') throw new SwapRefusal('run_not_active', 'the run has ended or was handed over')
    if (admission.kind === 'refused') throw new SwapRefusal(admission.reason, 'a run of its own is not admitted now')
    const successor = { ...source, run: leases.adopt(scope, admission.owned, 1), handOvers: handOvers + 1 }
    return this.#begin(successor, withVoice(agent, source, request), call.leg)
  }

  async #admit(
    { run, start }: ReadyRun,
    { agent_id, version, plan }: SuccessorPublication,
    effect_id: string,
    call: Call,
  ): Promise<SuccessorAdmission> {
    const { database, leases } = this.#options
    const variables = Object.entries({ ...start.dynamic_variables, ...call.variables })
    const request = {
      run_id: randomUUID(),
      agent_id,
      version,
      effect_id,
      dynamic_variables: Object.fromEntries(variables.slice(0, MAX_VARIABLES)),
      notifies: plan.notification != null,
    }
    const admit = () =>
      database.transaction(run.scope, tx =>
        admitSuccessor(tx, run.scope, run.owned, request, { ...leases.owner, leaseMs: leases.leaseMs }),
      )
    try {
      return await admit()
    } catch {
      // Whether the transaction was committed is not known; if it was, the source has its successor.
      const again = await admit()
      if (again.kind !== 'lost') return again
      return { kind: 'admitted', owned: { run_id: request.run_id, fence: '1' } }
    }
  }

  /** The run exists: it is the successor, or ends here. */
  async #begin(ready: Omit<ReadyRun, 'record'>, agent: VoiceAgent, leg: CallLeg): Promise<Successor> {
    const { database, recordings, ladders, onOver, onProblem } = this.#options
    const { run, time } = ready
    const record = new CallRecord({
      run,
      direction: leg.direction,
      continues: true,
      time,
      recordings,
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
          record.keepLadder(ladders, leg.callId)
          record.onCall(call)
        },
        onAbandoned: () => void record.abandon(CALLER_GONE),
      }
    } catch (error) {
      await record.abandon(undialled('recording_unavailable'))
      throw error
    }
  }

  async #publication({ run, start }: ReadyRun, request: SwapRequest): Promise<SuccessorPublication> {
    const { database } = this.#options
    const { agent_id, agent_version } = request
    const found = await successorPublication(database.within(run.scope), run.scope, agent_id, agent_version)
    if (found === null)
      throw new SwapRefusal('agent_not_found', 'the environment has no agent with this id and such a published version')
    if (!found.channels.includes('phone')) throw new SwapRefusal('channel_not_supported', 'it takes no phone calls')
    if (wantsRecording(found.plan) && !wantsRecording(start.plan))
      throw new SwapRefusal('recording_unavailable', 'it must record its calls, and this call is not recorded')
    return found
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
