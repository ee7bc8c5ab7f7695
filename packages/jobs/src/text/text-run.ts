import {
  type CallFacts,
  type ConversationEvent,
  codeVersions,
  RecordedText,
  type SwapRequest,
  TextSession,
} from '@parley/conversation'
import type { Plan } from '@parley/flow'
import { type Ms, ParleyError, type Time, type UnixMs, withDeadline } from '@parley/kernel'
import {
  type OwnedRun,
  type OwnedRunEnding,
  ownershipUnconfirmed,
  type RunCommand,
  retryUntilAnswered,
  type SuccessorRuns,
} from '@parley/runs'
import { type Bus, type Database, type MessageAnswer, moveRun, type StartingRun, startingRun } from '@parley/store'
import { JobsError } from '../errors.ts'
import type { JobLog } from '../protocol.ts'
import { Chat, documentsOf } from './chat.ts'
import { ChatMessages } from './chat-messages.ts'
import type { TextAgent, TextAgents, TextKind } from './protocol.ts'
import { Signal } from './signal.ts'
import { endingOf, failedEnding, handedOverEnding, type Stop, stoppedEnding } from './text-ending.ts'

/** Time in which the agent's services must be ready. */
const AGENT_MS: Ms = 30_000
/** How long the end of a run waits for actions under way: the longest action, and its rows in the ledger. */
const LAST_ACTIONS_MS: Ms = 620_000
/** The same for a run that was stopped; actions without an answer by then are recorded as uncertain. */
const STOPPED_ACTIONS_MS: Ms = 5000

interface TextRunOptions {
  readonly run: OwnedRun
  readonly kind: TextKind
  readonly database: Database
  readonly bus: Bus
  readonly agents: TextAgents
  /** Admits runs of agents that continue the conversation. */
  readonly successors: SuccessorRuns
  /** What the run continues. Default: it begins a conversation. */
  readonly before?: ConversationBefore
  readonly time: Time
  readonly wallClock: () => UnixMs
  readonly log: JobLog
}

/** A conversation of another agent that this one continues. */
interface ConversationBefore {
  readonly source: TextRun
  /** The services of this agent, which are ready. */
  readonly agent: TextAgent
  /** The language of the agent before, where this one keeps it. */
  readonly language: Plan['settings']['language'] | null
  /** How many agents had the conversation. */
  readonly handOvers: number
}

/** A conversation that has begun. */
interface Begun {
  readonly session: TextSession
  readonly plan: Plan
  /** The agent's first turn. */
  readonly opening: ReturnType<TextSession['start']>
}

/** Executes one text run from its claim to its end, and then the runs of the agents that continue its conversation. */
export class TextRun {
  readonly #options: TextRunOptions
  readonly #signal: Signal
  /** Aborts when the flow ends, or the run is stopped or lost. */
  readonly #over = new AbortController()
  /** Aborts when the run is stopped or lost: waiting ends at once. */
  readonly #stopping = new AbortController()
  readonly #lost = new AbortController()
  #session: TextSession | null = null
  #begun: Promise<Begun | null> | null = null
  /** The run that continues the conversation when this one has ended `transferred`. */
  #successor: TextRun | null = null
  #chat: Chat | null = null
  #recorded: RecordedText | null = null
  #stop: Stop | null = null
  #isEnding = false
  #isFinishing = false

  constructor(options: TextRunOptions) {
    this.#options = options
    this.#signal = new Signal(options.time)
  }

  /** Resolves when the conversation has ended or its run is lost; while the database is away, not before it is back. Never rejects. */
  async execute(): Promise<void> {
    await this.#execute()
    await this.#successor?.execute()
  }

  async #execute(): Promise<void> {
    const { run, log } = this.#options
    let ending: OwnedRunEnding
    try {
      ending = await this.#converseToEnd()
    } catch (error) {
      this.#session?.stop()
      ending = this.#failed(error)
    }
    this.#isFinishing = true
    if (this.#successor !== null && !this.#isHandedOver) {
      await abandon(this.#successor.#options.run, ending)
      this.#successor = null
    }
    if (this.#lost.signal.aborted) return
    if (this.#recorded !== null) await run.storeInputs(this.#recorded.finish())
    const finish = await run.finish(ending)
    if (finish === 'not_allowed')
      log(
        `run ${run.runId} cannot end`,
        new TypeError(`its state in the database does not allow the end ${ending.state}`),
      )
  }

  /** Stops the run because this process ends: it fails with `engine_lost`. */
  giveUp(): void {
    this.#requestStop('given_up')
    this.#successor?.giveUp()
  }

  /** Writes nothing more; the reaper takes the run when its lease ends. */
  abandon(): void {
    this.#options.run.markLost()
    this.#successor?.abandon()
  }

  /** Begins the conversation; resolves with the agent's first turn. What fails is the result of `execute`. */
  async #open(): Promise<MessageAnswer> {
    const begun = await this.#begin().catch(() => null)
    const opening = (await begun?.opening) ?? []
    const isOver = begun === null || this.#over.signal.aborted
    const answer = {
      state: isOver ? 'ending' : 'running',
      utterances: documentsOf(opening, this.#spokenBefore),
    } as const
    if (!this.#isHandedOver) return answer
    const { state, utterances } = await this.#successor!.#open()
    return { state, utterances: [...answer.utterances, ...utterances] }
  }

  get #spokenBefore(): number {
    const source = this.#options.before?.source
    return source === undefined ? 0 : source.#spokenBefore + (source.#session?.conversation.utterances.length ?? 0)
  }

  /** The flow has ended because another agent takes over. */
  get #isHandedOver(): boolean {
    return this.#successor !== null && this.#session?.ended?.outcome === 'transferred'
  }

  #onCommand(command: RunCommand): void {
    switch (command.type) {
      case 'cancel':
        return this.#requestStop('cancelled')
      case 'lost':
        this.#lost.abort()
        return this.#abort()
      case 'message':
        return this.#signal.notify()
      case 'update':
        // Only phone runs accept updates.
        return
    }
  }

  /** The first reason is the one that counts. */
  #requestStop(stop: Stop): void {
    if (this.#isFinishing) return
    this.#stop ??= stop
    this.#abort()
  }

  #abort(): void {
    this.#session?.stop()
    this.#stopping.abort()
    this.#end()
  }

  #end(): void {
    this.#over.abort()
    this.#signal.notify()
  }

  async #converseToEnd(): Promise<OwnedRunEnding> {
    const begun = await this.#begin()
    if (begun === null) return this.#stoppedEnding()
    const { session, plan, opening } = begun
    const { time } = this.#options
    const limit = time.at(time.now() + plan.settings.maxCallDurationMs, () => session.maxDuration())
    try {
      await this.#talk(opening)
    } finally {
      limit.cancel()
    }
    this.#noteEnding()
    await this.#settle(session)
    const { ended } = session
    if (ended === null) return this.#stoppedEnding()
    if (this.#isHandedOver) return handedOverEnding(this.#successor!.#options.run.runId)
    if (ended.outcome === 'error' && ended.code !== null && ended.code !== 'provider_failed')
      this.#options.run.note({ kind: 'error', code: ended.code, message: 'The flow cannot continue.' })
    return endingOf(ended)
  }

  /** Once; null: stopped before. */
  #begin(): Promise<Begun | null> {
    this.#begun ??= this.#prepare()
    return this.#begun
  }

  async #prepare(): Promise<Begun | null> {
    const { run, before } = this.#options
    run.onCommand(command => this.#onCommand(command))
    const start = await this.#moveToRunning()
    if (start === null) return null
    const plan = before?.language == null ? start.plan : speaking(start.plan, before.language)
    run.redact(plan.settings.redaction, start.dynamic_variables, this.#saidBefore)
    const agent = before?.agent ?? (await this.#createAgent(plan, start))
    if (agent === null) return null
    const session = this.#createSession(start, plan, agent)
    this.#chat = this.#createChat(session, plan)
    return { session, plan, opening: session.start() }
  }

  /** What was said in the run that this one continues; undefined: it continues none. */
  get #saidBefore() {
    const { before } = this.#options
    return before === undefined ? undefined : before.source.#session?.conversation.memory
  }

  /** Moves the run to `running` before anything acts, so that no other process starts it again. Null: stopped before. */
  async #moveToRunning(): Promise<StartingRun | null> {
    const { run, database } = this.#options
    const { scope, owned } = run
    const moved = await this.#retry(async () => {
      const answer = await database.transaction(scope, tx => moveRun(tx, scope, owned, { state: 'running' }))
      if (answer === 'lost') throw ownershipUnconfirmed()
      return answer
    })
    if (moved === undefined) return null
    if (moved === 'not_allowed')
      throw new TypeError(`run ${run.runId} was claimed, but its state does not allow a start`)
    run.note({ kind: 'state', state: 'running', phone_state: null })
    run.announce('run.started')
    const start = await this.#retry(() => startingRun(database.within(scope), scope, run.runId))
    if (start === null) throw new TypeError(`run ${run.runId} was claimed, but the database does not have it`)
    return start ?? null
  }

  /** Makes the agent of the plan. Null: stopped meanwhile. */
  async #createAgent(plan: Plan, { agent_id, version }: StartingRun): Promise<TextAgent | null> {
    const { agents, run, time } = this.#options
    const { signal } = this.#stopping
    try {
      const ready = agents(plan, { scope: run.scope, agent_id, version })
      const agent = await withDeadline(time, time.now() + AGENT_MS, signal, ready)
      if (agent === null && !signal.aborted) throw notReady()
      return agent
    } catch (error) {
      if (!(error instanceof ParleyError)) throw error
      throw new JobsError('provider_failed', error.message, { cause: error })
    }
  }

  #createSession(start: StartingRun, plan: Plan, agent: TextAgent): TextSession {
    const { run, kind, time, wallClock } = this.#options
    const { agent_id, version, dynamic_variables } = start
    const history = this.#saidBefore
    const mode = { channel: 'cloud', hasCaller: kind === 'chat' } as const
    const call: CallFacts = {
      run_id: run.runId,
      agent_id,
      agent_version: version,
      channel: 'cloud',
      from_number: null,
      to_number: null,
    }
    if (run.storesInputs)
      this.#recorded = new RecordedText({
        versions: { ...codeVersions(), plan: `${agent_id}/${version}` },
        plan,
        text: {
          mode,
          call,
          variables: dynamic_variables,
          knowledge: agent.knowledge !== undefined,
          ...(history && { history }),
        },
        time,
        wallClock,
      })
    const session = new TextSession({
      plan,
      mode,
      variables: { run: dynamic_variables },
      ...(history && { history }),
      call,
      swap: (request, effectId) => this.#swap(start, request, effectId),
      ...(this.#recorded !== null && { inputs: this.#recorded.inputs }),
      models: agent.models,
      actions: agent.actions(run.ledger),
      knowledge: agent.knowledge,
      ledger: run.ledger,
      transferPolicy: agent.transferPolicy,
      time,
      wallClock,
      onEvent: event => this.#on(event),
      onUsage: usage => run.addUsage(usage),
    })
    this.#session = session
    return session
  }

  #on(event: ConversationEvent): void {
    // Actions that outlasted the end of the run may still emit events.
    if (this.#isFinishing) return
    const { run } = this.#options
    switch (event.type) {
      case 'fact':
        run.note(event.fact, event.offset_ms ?? null)
        if (event.fact.kind === 'utterance') run.checkpoint(this.#session?.conversation.utterances ?? [])
        return
      case 'await-opening':
        return this.#chat?.awaitOpening(event.after_ms)
      case 'ended':
        return this.#end()
      default:
        return
    }
  }

  /** Null: nobody writes messages. */
  #createChat(session: TextSession, { settings }: Plan): Chat | null {
    const { run, kind, database, bus, time } = this.#options
    if (kind !== 'chat') return null
    const over = this.#over.signal
    return new Chat({
      session,
      time,
      over,
      signal: this.#signal,
      messages: new ChatMessages({ run, database, bus, time, over, lost: this.#lost.signal }),
      silenceMs: settings.endCallAfterSilenceMs,
      spokenBefore: this.#spokenBefore,
      onLastTurn: async () => {
        this.#noteEnding()
        return this.#isHandedOver ? this.#successor!.#open() : ENDING
      },
    })
  }

  async #talk(opening: Promise<unknown>): Promise<void> {
    if (this.#chat !== null) return this.#chat.talk(opening)
    const over = this.#over.signal
    if (over.aborted) return
    await new Promise<void>(resolve => over.addEventListener('abort', () => resolve(), { once: true }))
  }

  /** Another agent is to continue the conversation. */
  async #swap(start: StartingRun, request: SwapRequest, effectId: string): Promise<string | null> {
    const { run, agents, successors, before } = this.#options
    const { scope } = run
    const handOvers = before?.handOvers ?? 0
    const source = { run, channel: 'cloud', handOvers, signal: this.#stopping.signal } as const
    const successor = await successors.prepare(source, request, effectId, {
      agent: ({ agent_id, version, plan }) => agents(plan, { scope, agent_id, version }),
      variables: () => ({ ...start.dynamic_variables, ...this.#session?.conversation.variables }),
      begin: (own, agent) => {
        const language = request.keep_current_language ? start.plan.settings.language : null
        const continued = { source: this, agent, language, handOvers: handOvers + 1 }
        return new TextRun({ ...this.#options, run: own, before: continued })
      },
    })
    if (successor === null) return null
    const own = successor.#options.run
    if (this.#isFinishing) {
      await abandon(own, this.#stoppedEnding())
      return null
    }
    this.#successor = successor
    return own.runId
  }

  #noteEnding(): void {
    if (this.#isEnding) return
    this.#isEnding = true
    this.#options.run.note({ kind: 'state', state: 'ending', phone_state: null })
  }

  /** Waits until the outcomes of the last actions are in the ledger; not for long if the run was stopped. */
  async #settle(session: TextSession): Promise<void> {
    const { time } = this.#options
    const settled = session.conversation.settled()
    await withDeadline(time, time.now() + LAST_ACTIONS_MS, this.#stopping.signal, settled)
    if (this.#stop !== null) await withDeadline(time, time.now() + STOPPED_ACTIONS_MS, this.#lost.signal, settled)
  }

  /** The ending of a run that was stopped before its flow ended. That of a lost run is never written. */
  #stoppedEnding(): OwnedRunEnding {
    return stoppedEnding(this.#stop ?? 'given_up')
  }

  #failed(error: unknown): OwnedRunEnding {
    const { run, log } = this.#options
    if (JobsError.is(error, 'provider_failed')) {
      const { cause, message } = error
      run.note({ kind: 'error', code: cause instanceof ParleyError ? cause.code : error.code, message })
      return failedEnding('provider_failed')
    }
    log(`run ${run.runId} failed`, error)
    run.note({ kind: 'error', code: 'internal', message: 'The run could not be carried out.' })
    return failedEnding('internal')
  }

  #retry<Answer>(ask: () => Promise<Answer>): Promise<Answer | undefined> {
    return retryUntilAnswered(this.#options.time, () => this.#stopping.signal.aborted, ask)
  }
}

const ENDING: MessageAnswer = { state: 'ending', utterances: [] }

/** Ends a run that was to continue a conversation which has ended otherwise. */
async function abandon(run: OwnedRun, ending: OwnedRunEnding): Promise<void> {
  run.note({ kind: 'state', state: 'running', phone_state: null })
  await run.finish(ending)
}

/** The plan of an agent that goes on in the language of the conversation. */
function speaking(plan: Plan, language: Plan['settings']['language']): Plan {
  return { ...plan, settings: { ...plan.settings, language } }
}

function notReady(): ParleyError {
  return new JobsError('agent_not_ready', `The agent's services were not ready within ${AGENT_MS / 1000} s.`)
}
