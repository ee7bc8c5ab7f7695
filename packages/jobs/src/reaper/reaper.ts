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
import type { FarEnd, JobLog, RoomServer } from '../protocol.ts'
import { TaskSet } from '../task-set.ts'
import { type EndedRoom, endRoom, storeRoomEnd } from './end-room.ts'
import { type HangUp, hangUp, storeReply } from './hang-up.ts'
import { decideReap } from './reap-decision.ts'

/** A far end that confirms nothing may still be in the call for this long after the owner's last renewal (invariant 4). */
const BUSY_MS: Ms = 28_000
/** A far end always gets this long to confirm, also when its run is found late. */
const LEAST_MS: Ms = 3000
/** Time to end the run after the wait for the far end. */
const SPARE_MS: Ms = 5000
/** Runs in progress at once: all calls of a large engine. */
const MAX_RUNS = 2000
const RUNS_PER_ROUND = 200
/** Transactions at once: half of the connections of a process. */
const MAX_WRITES = 10

export interface ReaperOptions {
  readonly database: Database
  readonly bus: Bus
  readonly farEnd: FarEnd
  /** Default: there is no LiveKit server. */
  readonly rooms?: RoomServer
  readonly wake: (work: Work) => void
  readonly queue: EnvironmentQueue
  readonly owner: RunOwner
  readonly time: Time
  readonly wallClock: () => UnixMs
  readonly log: JobLog
  readonly counters: JobCounters
  /** From the end of a round to the start of the next. */
  readonly everyMs: Ms
  /** Lease of run owners. Default 9000. */
  readonly leaseMs?: Ms
  /** See {@link BUSY_MS}. */
  readonly busyMs?: Ms
}

/**
 * Takes over the runs of owners that died: hangs up at the far end, ends the run and releases its permit. When owners could not
 * renew for a while (the database was away or stalled, or this process was late) it first waits one full lease.
 */
export class Reaper {
  readonly #options: ReaperOptions
  readonly #leaseMs: Ms
  readonly #busyMs: Ms
  readonly #ending = new TaskSet(MAX_RUNS)
  readonly #writes = new Semaphore(MAX_WRITES)
  readonly #closing = new AbortController()
  #lastRound: Ms | null = null
  /** From this time on, owners that live have renewed; null: unknown until the database answers. */
  #restedAt: Ms | null = null

  constructor(options: ReaperOptions) {
    this.#options = options
    this.#leaseMs = options.leaseMs ?? RUN_LEASE_MS
    this.#busyMs = options.busyMs ?? BUSY_MS
  }

  /** Takes over expired runs, 200 at most; true: there may be more. Throws while the database is away. */
  async round(): Promise<boolean> {
    const { database, owner, time, everyMs, counters } = this.#options
    const startedAt = time.now()
    // An owner that renewed in time has two thirds of its lease left.
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
      const atMost = Math.min(RUNS_PER_ROUND, this.#ending.free)
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
    return lost.length === RUNS_PER_ROUND
  }

  /** Stops waiting for far ends; another reaper ends those runs. */
  async close(): Promise<void> {
    this.#closing.abort()
    await this.#ending.idle()
  }

  /** Never rejects: a run that cannot be ended now is taken by a reaper again when the lease ends. */
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
      const hangUp = hasFarEnd ? await this.#hangUp(run) : null
      const { rooms = null } = this.#options
      const room = await endRoom({ ...this.#options, rooms, writes: this.#writes }, run)
      if (signal.aborted) return
      const leaseEnds = time.now() + SPARE_MS
      const isOver = () => signal.aborted || time.now() >= leaseEnds
      const finish = await retryUntilAnswered(time, isOver, () =>
        this.#writes.run(() => this.#finish(run, ending, isStarted, { hangUp, room })),
      )
      if (finish === 'not_allowed')
        log(
          `run ${run.run_id} cannot end as ${ending.state}`,
          new TypeError(`its state is ${run.state}, ${run.phone_state}`),
        )
      bus.publish('runs', run.run_id)
      queue.wake('webhooks', run.scope)
      queue.wake('analyses', run.scope)
    } catch (error) {
      // The lease ended meanwhile, and another reaper took the run.
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

  /** Resolves when the permit may be released. */
  async #hangUp(run: LostRun): Promise<HangUp | null> {
    const { time, counters } = this.#options
    const deadline = time.now() + Math.max(this.#busyMs - run.renewed_ms_ago, LEAST_MS)
    const { signal } = this.#closing
    const result = await hangUp({ ...this.#options, writes: this.#writes }, run, deadline, signal)
    if (result !== null && !signal.aborted)
      counters.add(result.reply.confirmed ? 'hangups_confirmed' : 'hangups_unconfirmed')
    return result
  }

  #finish(
    run: LostRun,
    ending: RunEnding,
    isStarted: boolean,
    { hangUp, room }: { readonly hangUp: HangUp | null; readonly room: EndedRoom | null },
  ) {
    const { database, wallClock } = this.#options
    const { scope } = run
    const message = 'The process that owned this run died.'
    const error = {
      at: new Date(wallClock()).toISOString(),
      offset_ms: null,
      kind: 'error',
      fields: { code: 'engine_lost', message },
    }
    const words: LastWords = ending.engine_lost === true ? { events: { first: run.last_seq + 1, items: [error] } } : {}
    return database.transaction(scope, async tx => {
      if (hangUp !== null) await storeReply(tx, run, hangUp)
      if (room !== null) await storeRoomEnd(tx, run, room)
      if (isStarted) await moveRun(tx, scope, run, { state: 'running' })
      const finish = await finishRun(tx, scope, run, ending, words)
      if (typeof finish !== 'string')
        throw new JobsError('timeline_broken', `the timeline of ${run.run_id} has an item ${finish.last_seq} already`)
      return finish
    })
  }
}
