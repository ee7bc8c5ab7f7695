import { type Ms, Semaphore, type Time, type UnixMs } from '@parley/kernel'
import { type EnvironmentQueue, retryUntilAnswered, type Work } from '@parley/runs'
import {
  type Bus,
  type Database,
  finishRun,
  type LastWords,
  type LostRun,
  moveRun,
  RUN_LEASE_MS,
  type RunEnding,
  type RunOwner,
  releaseRun,
  StoreError,
} from '@parley/store'
import { JobsError } from '../errors.ts'
import type { JobCounters } from '../metrics.ts'
import type { FarEnd, JobLog } from '../protocol.ts'
import { TaskSet } from '../task-set.ts'
import { type HangUp, hangUp, storeReply } from './hang-up.ts'
import { decideReap } from './reap-decision.ts'

/** Invariant 4: a far end that confirms nothing may be busy for so long after the owner's last renewal. */
const BUSY_MS: Ms = 28_000
/** A far end gets this long to confirm, also where its run is found late. */
const LEAST_MS: Ms = 3000
/** Beyond the wait for the far end: to end the run. */
const SPARE_MS: Ms = 5000
/** In hand at once: all calls of a large engine. */
const MOST_RUNS = 2000
const AT_MOST = 200
/** In the database at once: half of what a process may have there. */
const MOST_WRITES = 10

export interface ReaperOptions {
  readonly database: Database
  readonly bus: Bus
  readonly farEnd: FarEnd
  readonly wake: (work: Work) => void
  readonly queue: EnvironmentQueue
  readonly owner: RunOwner
  readonly time: Time
  readonly wallClock: () => UnixMs
  readonly log: JobLog
  readonly counters: JobCounters
  /** From the end of a round to the next. */
  readonly everyMs: Ms
  /** Of the owners of runs. Default 9000. */
  readonly leaseMs?: Ms
  /** See {@link BUSY_MS}. */
  readonly busyMs?: Ms
}

/**
 * Takes over the runs of owners that died: tells the far end, ends the run, gives its permit back. After a time in which
 * owners could not renew (the database away or standing still, this process late) it waits one full lease first.
 */
export class Reaper {
  readonly #options: ReaperOptions
  readonly #leaseMs: Ms
  readonly #busyMs: Ms
  readonly #ending = new TaskSet(MOST_RUNS)
  readonly #writes = new Semaphore(MOST_WRITES)
  readonly #closing = new AbortController()
  #lastRound: Ms | null = null
  /** Owners have had the time to renew from then on; null: not known before the database answers. */
  #restedAt: Ms | null = null

  constructor(options: ReaperOptions) {
    this.#options = options
    this.#leaseMs = options.leaseMs ?? RUN_LEASE_MS
    this.#busyMs = options.busyMs ?? BUSY_MS
  }

  /** Takes what there is to take; true: there may be more. Throws while the database is away. */
  async round(): Promise<boolean> {
    const { database, owner, time, everyMs, counters } = this.#options
    const startedAt = time.now()
    // Whoever renewed in time has two thirds of a lease left.
    const patience = this.#leaseMs / 2
    if (this.#lastRound !== null && startedAt - this.#lastRound > everyMs + patience) this.#restedAt = null
    this.#lastRound = startedAt
    let lost: LostRun[]
    try {
      const askedAt = await database.jobs.clock()
      if (time.now() - startedAt > patience) this.#restedAt = null
      this.#restedAt ??= time.now() + this.#leaseMs
      if (time.now() < this.#restedAt) return false
      const leaseMs = Math.ceil(Math.max(this.#busyMs - this.#leaseMs, LEAST_MS) + SPARE_MS)
      const atMost = Math.min(AT_MOST, this.#ending.free)
      if (atMost === 0) return false
      lost = await database.jobs.reap(owner, { askedAt, atMost, leaseMs, restMs: this.#leaseMs })
    } catch (error) {
      this.#restedAt = null
      throw error
    } finally {
      this.#lastRound = time.now()
    }
    counters.add('runs_reaped', lost.length)
    for (const run of lost) this.#ending.start(() => this.#end(run))
    return lost.length === AT_MOST
  }

  /** Lets go of runs whose far end is still waited for: another reaper ends them. */
  async close(): Promise<void> {
    this.#closing.abort()
    await this.#ending.idle()
  }

  /** Never rejects: what cannot be done now is another reaper's when the lease ends. */
  async #end(run: LostRun): Promise<void> {
    const { time, log, bus, queue } = this.#options
    const signal = this.#closing.signal
    try {
      const verdict = decideReap(run)
      if (verdict.type === 'release') {
        await this.#release(run)
        return
      }
      const { ending, isStarted, hasFarEnd } = verdict
      const told = hasFarEnd ? await this.#tellFarEnd(run) : null
      if (signal.aborted) return
      const leaseEnds = time.now() + SPARE_MS
      const isOver = () => signal.aborted || time.now() >= leaseEnds
      const finish = await retryUntilAnswered(time, isOver, () =>
        this.#writes.run(() => this.#finish(run, ending, isStarted, told)),
      )
      if (finish === 'not_allowed')
        log(`run ${run.run_id} cannot end as ${ending.state}`, new TypeError(`it is ${run.state}, ${run.phone_state}`))
      bus.publish('runs', run.run_id)
      queue.wake('webhooks', run.scope)
      queue.wake('analyses', run.scope)
    } catch (error) {
      // Another reaper has it: it was too late here.
      if (StoreError.is(error, 'run_lost')) return
      log(`run ${run.run_id} of a dead owner is not ended`, error)
    }
  }

  async #release(run: LostRun): Promise<void> {
    const { database, wake, counters } = this.#options
    const { scope, run_id, kind } = run
    const released = await this.#writes.run(() => database.transaction(scope, tx => releaseRun(tx, scope, run)))
    if (released !== 'released') return
    counters.add('runs_released')
    wake({ kind, run_id, scope })
  }

  /** Resolves when the permit may be given back. */
  async #tellFarEnd(run: LostRun): Promise<HangUp> {
    const { time, counters } = this.#options
    const deadline = time.now() + Math.max(this.#busyMs - run.renewed_ms_ago, LEAST_MS)
    const { signal } = this.#closing
    const told = await hangUp({ ...this.#options, writes: this.#writes }, run, deadline, signal)
    if (!signal.aborted) counters.add(told.reply.confirmed ? 'hangups_confirmed' : 'hangups_unconfirmed')
    return told
  }

  #finish(run: LostRun, ending: RunEnding, isStarted: boolean, told: HangUp | null) {
    const { database, wallClock } = this.#options
    const { scope } = run
    const message = 'The process that had this run died.'
    const error = {
      at: new Date(wallClock()).toISOString(),
      offset_ms: null,
      kind: 'error',
      fields: { code: 'engine_lost', message },
    }
    const words: LastWords = ending.engine_lost === true ? { events: { first: run.last_seq + 1, items: [error] } } : {}
    return database.transaction(scope, async tx => {
      if (told !== null) await storeReply(tx, run, told)
      if (isStarted) await moveRun(tx, scope, run, { state: 'running' })
      const finish = await finishRun(tx, scope, run, ending, words)
      if (typeof finish !== 'string') throw new JobsError('timeline_broken', `item ${finish.last_seq} is there already`)
      return finish
    })
  }
}
