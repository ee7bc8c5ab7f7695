import { randomUUID } from 'node:crypto'
import type { SwapRequest } from '@parley/conversation'
import { type Ms, ParleyError, type Time, withDeadline } from '@parley/kernel'
import {
  admitSuccessor,
  type Database,
  readRun,
  type SuccessorAdmission,
  type SuccessorPublication,
  successorPublication,
} from '@parley/store'
import type { OwnedRun } from './owned-run.ts'
import type { RunLeases } from './run-leases.ts'

/** Agents that hand a conversation to each other would do so for ever. */
const MAX_HAND_OVERS = 10
/** An agent whose services are not ready by then gets no conversation: the caller waits. */
const READY_WITHIN_MS: Ms = 10_000
const MAX_VARIABLES = 100

/** No agent can continue the conversation; the code and the message stand in the timeline of the run that asked. */
export class SwapRefusal extends Error {
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

interface SuccessorRunsOptions {
  readonly database: Database
  readonly leases: Pick<RunLeases, 'owner' | 'leaseMs' | 'adopt'>
  readonly time: Time
  readonly onProblem: (what: string, error: unknown) => void
}

/** A run whose agent asks another one to continue its conversation. */
interface SwappingRun {
  readonly run: OwnedRun
  readonly channel: SuccessorPublication['channels'][number]
  /** How many agents had the conversation before. */
  readonly handOvers: number
  /** Stops the preparation. Default: nothing does. */
  readonly signal?: AbortSignal
}

/** How a run continues the conversation of another one. */
interface Preparation<Agent, Successor> {
  /** Refuses a publication by throwing `SwapRefusal`, and makes the services of its agent. */
  readonly agent: (publication: SuccessorPublication) => Promise<Agent>
  /** The variables of the conversation so far, read when the agent is ready. */
  readonly variables: () => Readonly<Record<string, string>>
  /** The run exists: what it returns continues the conversation, or it ends the run and throws. */
  readonly begin: (run: OwnedRun, agent: Agent, publication: SuccessorPublication) => Promise<Successor> | Successor
}

/** Admits runs that continue the conversations of other runs, each with an agent of its own. */
export class SuccessorRuns {
  readonly #options: SuccessorRunsOptions

  constructor(options: SuccessorRunsOptions) {
    this.#options = options
  }

  /** Null: no agent can continue the conversation, and the timeline of the source says why. Never rejects. */
  async prepare<Agent, Successor>(
    source: SwappingRun,
    request: SwapRequest,
    effectId: string,
    preparation: Preparation<Agent, Successor>,
  ): Promise<Successor | null> {
    try {
      return await this.#prepare(source, request, effectId, preparation)
    } catch (error) {
      const code = error instanceof SwapRefusal || error instanceof ParleyError ? error.code : 'internal'
      const why = error instanceof SwapRefusal ? error.message : 'it is not ready'
      if (!(error instanceof SwapRefusal))
        this.#options.onProblem(`run ${source.run.runId} cannot hand its conversation to "${request.agent_id}"`, error)
      const message = `The agent "${request.agent_id}" does not take over: ${why}.`
      source.run.note({ kind: 'error', code, message })
      return null
    }
  }

  async #prepare<Agent, Successor>(
    source: SwappingRun,
    request: SwapRequest,
    effectId: string,
    { agent, variables, begin }: Preparation<Agent, Successor>,
  ): Promise<Successor> {
    const { time, leases } = this.#options
    const { run, handOvers, signal = new AbortController().signal } = source
    if (handOvers >= MAX_HAND_OVERS)
      throw new SwapRefusal('too_many_swaps', `the conversation was handed over ${MAX_HAND_OVERS} times already`)
    const deadline = time.now() + READY_WITHIN_MS
    const publication = await this.#publication(source, request)
    const ready = await withDeadline(time, deadline, signal, agent(publication))
    if (ready === null) throw new SwapRefusal('agent_not_ready', 'its services are not ready')
    const admission = await this.#admit(run, publication, effectId, variables())
    if (admission.kind === 'lost') throw new SwapRefusal('run_not_active', 'the run has ended or was handed over')
    if (admission.kind === 'refused') throw new SwapRefusal(admission.reason, 'a run of its own is not admitted now')
    return begin(leases.adopt(run.scope, admission.owned, 1), ready, publication)
  }

  async #publication({ run, channel }: SwappingRun, request: SwapRequest): Promise<SuccessorPublication> {
    const { database } = this.#options
    const { agent_id, agent_version } = request
    const found = await successorPublication(database.within(run.scope), run.scope, agent_id, agent_version)
    if (found === null)
      throw new SwapRefusal('agent_not_found', 'the environment has no agent with this id and such a published version')
    if (!found.channels.includes(channel))
      throw new SwapRefusal('channel_not_supported', channel === 'phone' ? 'it takes no calls' : 'it takes no chats')
    return found
  }

  async #admit(
    source: OwnedRun,
    { agent_id, version, plan }: SuccessorPublication,
    effect_id: string,
    variables: Readonly<Record<string, string>>,
  ): Promise<SuccessorAdmission> {
    const { database, leases } = this.#options
    const { scope, owned } = source
    const request = {
      run_id: randomUUID(),
      agent_id,
      version,
      effect_id,
      dynamic_variables: Object.fromEntries(Object.entries(variables).slice(0, MAX_VARIABLES)),
      notifies: plan.notification != null,
    }
    const admit = () =>
      database.transaction(scope, tx =>
        admitSuccessor(tx, scope, owned, request, { ...leases.owner, leaseMs: leases.leaseMs }),
      )
    try {
      return await admit()
    } catch {
      // Whether the transaction was committed is not known; if it was, the source has its successor.
      const again = await admit()
      if (again.kind !== 'lost') return again
      const committed = await readRun(database.within(scope), scope, request.run_id)
      return committed === null ? again : { kind: 'admitted', owned: { run_id: request.run_id, fence: '1' } }
    }
  }
}
