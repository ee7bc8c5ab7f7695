import { type CallFacts, type ConversationEvent, codeVersions, RecordedText, TextSession } from '@parley/conversation'
import type { Plan } from '@parley/flow'
import { type Ms, ParleyError, type Time, type UnixMs, withDeadline } from '@parley/kernel'
import {
  type OwnedRun,
  type OwnedRunEnding,
  ownershipUnconfirmed,
  type RunCommand,
  retryUntilAnswered,
} from '@parley/runs'
import { type Bus, type Database, moveRun, type StartingRun, startingRun } from '@parley/store'
import { JobsError } from '../errors.ts'
import type { JobLog } from '../protocol.ts'
import { Chat } from './chat.ts'
import { ChatMessages } from './chat-messages.ts'
import type { TextAgent, TextAgents, TextKind } from './protocol.ts'
import { Signal } from './signal.ts'
import { endingOf, failedEnding, type Stop, stoppedEnding } from './text-ending.ts'

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
  readonly time: Time
  readonly wallClock: () => UnixMs
  readonly log: JobLog
}

/** Executes one text run from its claim to its end. */
export class TextRun {
  readonly #options: TextRunOptions
  readonly #signal: Signal
  /** Aborts when the flow ends, or the run is stopped or lost. */
  readonly #over = new AbortController()
  /** Aborts when the run is stopped or lost: waiting ends at once. */
  readonly #stopping = new AbortController()
  readonly #lost = new AbortController()
  #session: TextSession | null = null
  #chat: Chat | null = null
  #recorded: RecordedText | null = null
  #stop: Stop | null = null
  #isEnding = false
  #isFinishing = false

  constructor(options: TextRunOptions) {
    this.#options = options
    this.#signal = new Signal(options.time)
  }

  /** Resolves when the run has ended or is lost; while the database is away, not before it is back. Never rejects. */
  async execute(): Promise<void> {
    const { run, log } = this.#options
    run.onCommand(command => this.#onCommand(command))
    let ending: OwnedRunEnding
    try {
      ending = await this.#converseToEnd()
    } catch (error) {
      this.#session?.stop()
      ending = this.#failed(error)
    }
    this.#isFinishing = true
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
  }

  /** Writes nothing more; the reaper takes the run when its lease ends. */
  abandon(): void {
    this.#options.run.markLost()
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
    const start = await this.#begin()
    if (start === null) return this.#stoppedEnding()
    const { plan } = start
    this.#options.run.redact(plan.settings.redaction)
    const agent = await this.#open(plan, start)
    if (agent === null) return this.#stoppedEnding()
    const session = this.#createSession(start, plan, agent)
    const { time } = this.#options
    const limit = time.at(time.now() + plan.settings.maxCallDurationMs, () => session.maxDuration())
    try {
      await this.#talk(session, plan)
    } finally {
      limit.cancel()
    }
    this.#noteEnding()
    await this.#settle(session)
    const { ended } = session
    if (ended === null) return this.#stoppedEnding()
    if (ended.outcome === 'error' && ended.code !== null && ended.code !== 'provider_failed')
      this.#options.run.note({ kind: 'error', code: ended.code, message: 'The flow cannot continue.' })
    return endingOf(ended)
  }

  /** Moves the run to `running` before anything acts, so that no other process starts it again. Null: stopped before. */
  async #begin(): Promise<StartingRun | null> {
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
  async #open(plan: Plan, { agent_id, version }: StartingRun): Promise<TextAgent | null> {
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

  #createSession({ agent_id, version, dynamic_variables }: StartingRun, plan: Plan, agent: TextAgent): TextSession {
    const { run, kind, time, wallClock } = this.#options
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
        text: { mode, call, variables: dynamic_variables, knowledge: agent.knowledge !== undefined },
        time,
        wallClock,
      })
    const session = new TextSession({
      plan,
      mode,
      variables: { run: dynamic_variables },
      call,
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

  async #talk(session: TextSession, { settings }: Plan): Promise<void> {
    const { run, kind, database, bus, time } = this.#options
    const over = this.#over.signal
    if (kind !== 'chat') {
      const isOver = new Promise<void>(resolve => over.addEventListener('abort', () => resolve(), { once: true }))
      void session.start()
      return isOver
    }
    const lost = this.#lost.signal
    this.#chat = new Chat({
      session,
      time,
      over,
      signal: this.#signal,
      messages: new ChatMessages({ run, database, bus, time, over, lost }),
      silenceMs: settings.endCallAfterSilenceMs,
      onLastTurn: () => this.#noteEnding(),
    })
    await this.#chat.talk()
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

function notReady(): ParleyError {
  return new JobsError('agent_not_ready', `The agent's services were not ready within ${AGENT_MS / 1000} s.`)
}
