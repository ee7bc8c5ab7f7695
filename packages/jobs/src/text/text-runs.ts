import type { Scope } from '@parley/contract'
import { type Ms, type Time, type Timer, type UnixMs, withDeadline } from '@parley/kernel'
import { type OwnedRun, RepeatedFailureLog, type RunLeases, SuccessorRuns, type Work } from '@parley/runs'
import type { Bus, Database, RunKind, WaitingRun } from '@parley/store'
import type { JobLog } from '../protocol.ts'
import type { TextAgents, TextKind } from './protocol.ts'
import { TextRun } from './text-run.ts'

const POLL_MS: Ms = 2000
/** The job of a run arrives within milliseconds. A run that waits longer lost its job, or found no place. */
const LATE_MS: Ms = 2000
const DEFAULT_MAX_LIVE = 200
/** Runs claimed at once. */
const BATCH = 20
/** How long the ends of stopped runs may take after the drain. */
const LAST_WRITES_MS: Ms = 10_000
const KINDS: readonly RunKind[] = ['chat', 'task', 'background'] satisfies TextKind[]

export interface TextRunsOptions {
  /** Close it after `TextRuns.close`, which releases or ends its runs. */
  readonly leases: RunLeases
  readonly database: Database
  readonly bus: Bus
  readonly agents: TextAgents
  readonly time: Time
  readonly wallClock: () => UnixMs
  readonly log: JobLog
  /** Runs at once, default 200. Background runs get at most half of the places. */
  readonly maxLive?: number
}

interface TextRunMetrics {
  /** Runs that had waited for 2 s or longer when a poll of this worker found and claimed them. */
  readonly runs_woken: number
}

interface LiveRun {
  readonly kind: TextKind
  readonly tenantId: string
  readonly over: Promise<void>
}

/** Claims and executes chats, tasks and background runs until it is closed. */
export function startTextRuns(options: TextRunsOptions): TextRuns {
  return new TextRuns(options)
}

/**
 * The text runs of this process. A job of the run queue wakes it for each run; a poll of the database every 2 s finds runs whose
 * job was lost. The process that claims a run first owns it. Runs of tenants with the fewest active runs start first. Background
 * runs start while no chat and no task waits.
 */
export class TextRuns {
  readonly #options: TextRunsOptions
  readonly #maxLive: number
  readonly #live = new Map<TextRun, LiveRun>()
  readonly #polls: RepeatedFailureLog
  readonly #successors: SuccessorRuns
  readonly #claims = new Set<Promise<boolean>>()
  /** Places of claims under way. */
  #reserved = 0
  #timer: Timer | null = null
  #polling: Promise<void> | null = null
  #pollAgain = false
  /** A run was left waiting because no place was free. */
  #hasSkipped = false
  #late = 0
  #closing: Promise<void> | null = null

  constructor(options: TextRunsOptions) {
    this.#options = options
    this.#maxLive = options.maxLive ?? DEFAULT_MAX_LIVE
    const { time, log } = options
    this.#successors = new SuccessorRuns({ ...options, onProblem: log })
    this.#polls = new RepeatedFailureLog({ name: 'the poll for waiting runs', time, onProblem: log })
    this.#poll()
    this.#schedule()
  }

  /** Active runs of this kind. */
  count(kind: TextKind): number {
    return [...this.#live.values()].filter(live => live.kind === kind).length
  }

  /** Counts since the start; a counter each, named `parley_jobs_…_total` where they are served. */
  get metrics(): TextRunMetrics {
    return { runs_woken: this.#late }
  }

  /** For the queue: claims the run if it still waits and a place is free. Never rejects. */
  async wake({ kind, run_id, scope }: Work): Promise<void> {
    if (!isTextKind(kind)) return
    if (kind === 'background') return this.#poll()
    try {
      await this.#claim(kind, scope, run_id)
    } catch (error) {
      this.#options.log(`run ${run_id} cannot be claimed`, error)
    }
  }

  /**
   * Claims nothing more; claimed runs that have not started are released. Active runs may continue for `drainMs` and then end
   * as `failed` with `engine_lost`. Runs whose end cannot be written within 10 s more are left to the reaper. Never rejects.
   */
  close(drainMs: Ms): Promise<void> {
    this.#closing ??= this.#close(drainMs)
    return this.#closing
  }

  async #close(drainMs: Ms): Promise<void> {
    this.#timer?.cancel()
    await this.#emptied(drainMs)
    for (const run of this.#live.keys()) run.giveUp()
    await this.#emptied(LAST_WRITES_MS)
    for (const run of this.#live.keys()) run.abandon()
  }

  async #emptied(withinMs: Ms): Promise<void> {
    const { time } = this.#options
    const live = [...this.#live.values()].map(({ over }) => over)
    const over = Promise.allSettled([this.#polling, ...this.#claims, ...live])
    await withDeadline(time, time.now() + withinMs, new AbortController().signal, over)
  }

  #schedule(): void {
    const { time } = this.#options
    this.#timer = time.at(time.now() + POLL_MS, () => {
      this.#poll()
      this.#schedule()
    })
  }

  /** Polls now, or again after the poll in progress. */
  #poll(): void {
    if (this.#closing !== null) return
    this.#pollAgain = true
    this.#polling ??= this.#pollUntilIdle()
  }

  async #pollUntilIdle(): Promise<void> {
    try {
      while (this.#pollAgain && this.#closing === null) {
        this.#pollAgain = false
        this.#hasSkipped = false
        await this.#takeAll()
        this.#polls.worked()
      }
    } catch (error) {
      this.#polls.failed(error)
    }
    // In the same turn as the last check of `#pollAgain`: a later request starts a new poll.
    this.#polling = null
  }

  /** Claims one background run at a time, so that a chat that arrives meanwhile goes before the next one. */
  async #takeAll(): Promise<void> {
    for (;;) {
      const ahead = [await this.#take('chat', BATCH), await this.#take('task', BATCH)]
      if (ahead.includes('left')) return
      if (ahead.includes('taken')) continue
      if ((await this.#take('background', 1)) !== 'taken') return
    }
  }

  /** Claims waiting runs of all tenants in turn. `taken`: by this process or another one. `left`: no place is free, or this process closes. */
  async #take(kind: TextKind, atMost: number): Promise<'nothing' | 'taken' | 'left'> {
    const places = Math.min(this.#places(kind), atMost)
    const underWay = [...this.#live.values()].map(({ tenantId }) => tenantId)
    const waiting = await this.#options.database.runs.waiting(kind, Math.max(places, 1), underWay)
    if (waiting.length === 0) return 'nothing'
    if (places === 0) {
      this.#hasSkipped = true
      return 'left'
    }
    const claims = await Promise.all(
      waiting.map(async run => ((await this.#claim(kind, run.scope, run.run_id)) ? [run] : [])),
    )
    const claimed = claims.flat()
    await this.#countLate(claimed)
    return claimed.length === 0 && (this.#closing !== null || this.#places(kind) === 0) ? 'left' : 'taken'
  }

  async #countLate(claimed: readonly WaitingRun[]): Promise<void> {
    if (claimed.length === 0) return
    const now = Date.parse(await this.#options.database.jobs.clock())
    this.#late += claimed.filter(({ admitted_at }) => now - Date.parse(admitted_at) >= LATE_MS).length
  }

  #places(kind: TextKind): number {
    const free = this.#maxLive - this.#live.size - this.#reserved
    if (kind !== 'background') return Math.max(0, free)
    return Math.max(0, Math.min(free, Math.ceil(this.#maxLive / 2) - this.count('background')))
  }

  async #claim(kind: TextKind, scope: Scope, runId: string): Promise<boolean> {
    if (this.#closing !== null) return false
    if (this.#places(kind) === 0) {
      this.#hasSkipped = true
      return false
    }
    const claim = this.#claimNow(kind, scope, runId)
    this.#claims.add(claim)
    try {
      return await claim
    } finally {
      this.#claims.delete(claim)
    }
  }

  async #claimNow(kind: TextKind, scope: Scope, runId: string): Promise<boolean> {
    const { leases } = this.#options
    let run: OwnedRun | null = null
    this.#reserved++
    try {
      run = await leases.claim(scope, runId)
    } finally {
      this.#reserved--
      if (run === null) this.#onFreePlace()
    }
    if (run === null) return false
    if (this.#closing === null) this.#begin(kind, run)
    else await leases.release(run)
    return true
  }

  #onFreePlace(): void {
    if (this.#hasSkipped) this.#poll()
  }

  #begin(kind: TextKind, run: OwnedRun): void {
    const { leases: _, maxLive: __, ...rest } = this.#options
    const textRun = new TextRun({ ...rest, successors: this.#successors, run, kind })
    const over = textRun
      .execute()
      .catch(error => this.#options.log(`run ${run.runId} was not ended`, error))
      .finally(() => {
        this.#live.delete(textRun)
        this.#onFreePlace()
      })
    this.#live.set(textRun, { kind, tenantId: run.scope.tenant_id, over })
  }
}

function isTextKind(kind: string): kind is TextKind {
  return (KINDS as readonly string[]).includes(kind)
}
