import type { Scope } from '@parley/contract'
import type { Ms, Time, Timer, UnixMs } from '@parley/kernel'
import { type OwnedRun, RepeatedFailureLog, type RunLeases, type Work } from '@parley/runs'
import type { Bus, Database, RunKind, WaitingRun } from '@parley/store'
import { withDeadline } from '../deadline.ts'
import type { JobLog } from '../protocol.ts'
import type { TextAgents, TextKind } from './protocol.ts'
import { TextRun } from './text-run.ts'

const SWEEP_MS: Ms = 2000
/** The job of a run arrives within milliseconds: a run that waits longer has no job any more, or found no place. */
const LATE_MS: Ms = 2000
const DEFAULT_MAX_LIVE = 200
/** Claimed at once. */
const BATCH = 20
/** After the drain: for the ends of what was given up. */
const LAST_WRITES_MS: Ms = 10_000
const KINDS: readonly RunKind[] = ['chat', 'task', 'background'] satisfies TextKind[]

export interface TextRunsOptions {
  /** Its runs are given back or ended before it is closed. */
  readonly leases: RunLeases
  readonly database: Database
  readonly bus: Bus
  readonly agents: TextAgents
  readonly time: Time
  readonly wallClock: () => UnixMs
  readonly log: JobLog
  /** Runs at once, default 200. Background runs take half of the places at most. */
  readonly maxLive?: number
}

interface TextRunMetrics {
  /** Runs that had waited for 2 s or longer when a look of this worker found and claimed them. */
  readonly runs_woken: number
}

interface LiveRun {
  readonly kind: TextKind
  readonly tenantId: string
  readonly over: Promise<void>
}

/** Takes chats, tasks and background runs as they come, until it is closed. */
export function startTextRuns(options: TextRunsOptions): TextRuns {
  return new TextRuns(options)
}

/**
 * The runs in text that this process carries out. A job of the run queue wakes it for each run; a look every 2 s finds what
 * was lost. The process that claims a run first has it. Of what waits, that of tenants with the fewest under way goes first. Background
 * runs begin while no chat and no task waits.
 */
export class TextRuns {
  readonly #options: TextRunsOptions
  readonly #maxLive: number
  readonly #live = new Map<TextRun, LiveRun>()
  readonly #looks: RepeatedFailureLog
  readonly #claims = new Set<Promise<boolean>>()
  #sweep: Timer | null = null
  #looking: Promise<void> | null = null
  #lookAgain = false
  /** Something was left waiting for want of a place. */
  #isShort = false
  #late = 0
  #closing: Promise<void> | null = null

  constructor(options: TextRunsOptions) {
    this.#options = options
    this.#maxLive = options.maxLive ?? DEFAULT_MAX_LIVE
    const { time, log } = options
    this.#looks = new RepeatedFailureLog({ name: 'looking for waiting runs', time, onProblem: log })
    this.#look()
    this.#schedule()
  }

  /** Runs under way now. */
  count(kind: TextKind): number {
    return [...this.#live.values()].filter(live => live.kind === kind).length
  }

  /** Counts since the start; a counter each, named `parley_jobs_…_total` where they are served. */
  get metrics(): TextRunMetrics {
    return { runs_woken: this.#late }
  }

  /** For the queue: takes the run if it is still to be had and there is a place. Never rejects. */
  async wake({ kind, run_id, scope }: Work): Promise<void> {
    if (!isTextKind(kind)) return
    if (kind === 'background') return this.#look()
    try {
      await this.#claim(kind, scope, run_id)
    } catch (error) {
      this.#options.log(`run ${run_id} cannot be claimed`, error)
    }
  }

  /**
   * Takes nothing more; what was claimed and has not begun is given back. What is under way may go on for `drainMs`, then
   * it ends as `failed` with `engine_lost`; what cannot be written within 10 s more is left to the reaper. Never rejects.
   */
  close(drainMs: Ms): Promise<void> {
    this.#closing ??= this.#close(drainMs)
    return this.#closing
  }

  async #close(drainMs: Ms): Promise<void> {
    this.#sweep?.cancel()
    await this.#emptied(drainMs)
    for (const run of this.#live.keys()) run.giveUp()
    await this.#emptied(LAST_WRITES_MS)
    for (const run of this.#live.keys()) run.abandon()
  }

  async #emptied(withinMs: Ms): Promise<void> {
    const { time } = this.#options
    const live = [...this.#live.values()].map(({ over }) => over)
    const over = Promise.allSettled([this.#looking, ...this.#claims, ...live])
    await withDeadline(time, time.now() + withinMs, new AbortController().signal, over)
  }

  #schedule(): void {
    const { time } = this.#options
    this.#sweep = time.at(time.now() + SWEEP_MS, () => {
      this.#look()
      this.#schedule()
    })
  }

  /** Looks for work, now or after the look that is under way. */
  #look(): void {
    if (this.#closing !== null) return
    this.#lookAgain = true
    this.#looking ??= this.#lookOn().finally(() => {
      this.#looking = null
    })
  }

  async #lookOn(): Promise<void> {
    try {
      while (this.#lookAgain && this.#closing === null) {
        this.#lookAgain = false
        this.#isShort = false
        await this.#takeAll()
        this.#looks.worked()
      }
    } catch (error) {
      this.#looks.failed(error)
    }
  }

  /** One background run at a time: a chat that comes meanwhile goes before the next. */
  async #takeAll(): Promise<void> {
    for (;;) {
      const ahead = [await this.#take('chat', BATCH), await this.#take('task', BATCH)]
      if (ahead.includes('left')) return
      if (ahead.includes('taken')) continue
      if ((await this.#take('background', 1)) !== 'taken') return
    }
  }

  /** Claims what waits, of all tenants in turn. `left`: there is no place for it, or somebody else is taking it. */
  async #take(kind: TextKind, atMost: number): Promise<'nothing' | 'taken' | 'left'> {
    const places = Math.min(this.#places(kind), atMost)
    const underWay = [...this.#live.values()].map(({ tenantId }) => tenantId)
    const waiting = await this.#options.database.runs.waiting(kind, Math.max(places, 1), underWay)
    if (waiting.length === 0) return 'nothing'
    if (places === 0) {
      this.#isShort = true
      return 'left'
    }
    const claims = await Promise.all(
      waiting.map(async run => ((await this.#claim(kind, run.scope, run.run_id)) ? [run] : [])),
    )
    const claimed = claims.flat()
    await this.#countLate(claimed)
    return claimed.length > 0 ? 'taken' : 'left'
  }

  async #countLate(claimed: readonly WaitingRun[]): Promise<void> {
    if (claimed.length === 0) return
    const now = Date.parse(await this.#options.database.jobs.clock())
    this.#late += claimed.filter(({ admitted_at }) => now - Date.parse(admitted_at) >= LATE_MS).length
  }

  #places(kind: TextKind): number {
    const free = this.#maxLive - this.#live.size - this.#claims.size
    if (kind !== 'background') return Math.max(0, free)
    return Math.max(0, Math.min(free, Math.ceil(this.#maxLive / 2) - this.count('background')))
  }

  async #claim(kind: TextKind, scope: Scope, runId: string): Promise<boolean> {
    if (this.#closing !== null) return false
    if (this.#places(kind) === 0) {
      this.#isShort = true
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
    const run = await leases.claim(scope, runId)
    if (run === null) return false
    if (this.#closing === null) this.#begin(kind, run)
    else await leases.release(run)
    return true
  }

  #begin(kind: TextKind, run: OwnedRun): void {
    const { leases: _, maxLive: __, ...rest } = this.#options
    const textRun = new TextRun({ ...rest, run, kind })
    const over = textRun
      .live()
      .catch(error => this.#options.log(`run ${run.runId} was not ended`, error))
      .finally(() => {
        this.#live.delete(textRun)
        if (this.#isShort) this.#look()
      })
    this.#live.set(textRun, { kind, tenantId: run.scope.tenant_id, over })
  }
}

function isTextKind(kind: string): kind is TextKind {
  return (KINDS as readonly string[]).includes(kind)
}
