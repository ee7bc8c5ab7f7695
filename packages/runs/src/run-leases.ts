import type { Scope } from '@parley/contract'
import type { Ms, Random, Time, Timer, TraceSink, UnixMs } from '@parley/kernel'
import {
  type Bus,
  claimRun,
  type Database,
  type DueWork,
  type PendingUpdate,
  type RenewedRun,
  RUN_LEASE_MS,
  type RunOwner,
  type RunOwnership,
  readUpdate,
  releaseRun,
  type Sealer,
  StoreError,
  settleUpdate,
  takeUpdates,
} from '@parley/store'
import type { RunJournals } from './journal/run-journals.ts'
import { OwnedRun } from './owned-run.ts'
import type { UpdateOutcome } from './protocol.ts'
import { RepeatedFailureLog } from './repeated-failure-log.ts'
import { RunTrace } from './run-trace.ts'

/** A lease that could not be renewed because its run was being written to is renewed after this pause. */
const BUSY_MS: Ms = 200

interface RunLeasesOptions {
  readonly database: Database
  /** Connections for renewals only, so that no other query delays them. Default: `database`. */
  readonly leases?: Pick<Database, 'runs'>
  readonly bus: Bus
  /** Stores on disk what the database cannot take. Default: memory, which a killed process loses. */
  readonly journals?: RunJournals
  /** Identifies this process; never used again, also after a restart. */
  readonly owner: RunOwner
  /** Seals the logs of inputs. Default: none are stored. */
  readonly sealer?: Sealer
  readonly time: Time
  readonly wallClock: () => UnixMs
  readonly random: Random
  /** Default 9000; renewed every third of it. */
  readonly leaseMs?: Ms
  /** Such work may be due in this environment: a run's webhook is stored, or a run ended. */
  readonly onDue?: (work: DueWork, scope: Scope) => void
  /** Takes the spans of runs. Default: tracing is off. */
  readonly trace?: TraceSink
  /** Receives failures that end no run by themselves; `error` is null when the work succeeds again. */
  readonly onProblem?: (what: string, error: unknown) => void
}

interface OwnedEntry {
  readonly run: OwnedRun
  /** Revision of the newest update that was delivered, or was settled before it could be. */
  lastDelivered: number
  /** Revisions of delivered updates whose outcome is not in the timeline yet. */
  readonly open: Set<number>
  isReading: boolean
  /** Resolves when the updates so far are settled: they are settled in the order of their revisions. Never rejects. */
  settled: Promise<unknown>
}

/**
 * The runs that this process owns: claims them, renews their leases, and delivers the commands for them. A run whose lease
 * ended while the database was away still belongs to this process until another one took it.
 */
export class RunLeases {
  readonly #options: RunLeasesOptions
  readonly #owned = new Map<string, OwnedEntry>()
  readonly #unsubscribe: () => void
  readonly #leaseMs: Ms
  readonly #renewals: RepeatedFailureLog
  #timer: Timer | null = null
  #closed = false

  constructor(options: RunLeasesOptions) {
    this.#options = options
    this.#leaseMs = options.leaseMs ?? RUN_LEASE_MS
    this.#renewals = new RepeatedFailureLog({
      name: 'the renewal of leases',
      time: options.time,
      onProblem: (what, error) => this.#problem(what, error),
    })
    const look = (runId: string) => {
      const entry = this.#owned.get(runId)
      if (entry !== undefined) void this.#refresh(entry)
    }
    const lookAtAll = () => {
      for (const { run } of this.#owned.values()) run.deliver({ type: 'message' })
      void this.#renewAll()
    }
    this.#unsubscribe = options.bus.subscribe('run_orders', look, lookAtAll)
    this.#schedule()
  }

  /** Number of owned runs. */
  get size(): number {
    return this.#owned.size
  }

  /** The tenant of each owned run. */
  get tenants(): string[] {
    return [...this.#owned.values()].map(({ run }) => run.scope.tenant_id)
  }

  get owner(): RunOwner {
    return this.#options.owner
  }

  get leaseMs(): Ms {
    return this.#leaseMs
  }

  /** Claims a waiting run. Null: another process has it, it ended, or its start time passed. Throws what the database throws. */
  async claim(scope: Scope, runId: string): Promise<OwnedRun | null> {
    const { database, owner } = this.#options
    const claimed = await database.transaction(
      scope,
      tx => claimRun(tx, scope, runId, owner, this.#leaseMs),
      'one-trip',
    )
    if (claimed === null) return null
    const { run_id, fence, last_seq, cancel_asked } = claimed
    const run = this.#own(scope, { run_id, fence }, last_seq, true)
    if (cancel_asked) run.deliver({ type: 'cancel' })
    return run
  }

  /** Adds a run that this process owns already: it was admitted with this process as its owner. */
  adopt(scope: Scope, owned: RunOwnership, lastSeq: number): OwnedRun {
    return this.#own(scope, owned, lastSeq, false)
  }

  /** `waited`: it was admitted by a request, and waited in the queue. */
  #own(scope: Scope, owned: RunOwnership, lastSeq: number, waited: boolean): OwnedRun {
    const { database, bus, journals, owner, time, wallClock, random, trace } = this.#options
    const runId = owned.run_id
    const journal = journals?.of(scope, owned, owner.engine) ?? null
    const run = new OwnedRun({
      database,
      scope,
      owned,
      lastSeq,
      journal,
      sealer: this.#options.sealer ?? null,
      time,
      wallClock,
      random,
      onWritten: () => bus.publish('runs', runId),
      onAnnounced: () => this.#options.onDue?.('webhooks', scope),
      isStillOwned: () => this.#isStillOwned(owned),
      onTrouble: error => this.#problem(`run ${runId} cannot be written`, error),
      onJournal: trouble => journals?.reportWrite(trouble),
      onOver: () => {
        if (this.#owned.get(runId)?.run === run) this.#owned.delete(runId)
        bus.publish('runs', runId)
        this.#options.onDue?.('webhooks', scope)
        this.#options.onDue?.('analyses', scope)
      },
      trace:
        trace === undefined
          ? null
          : new RunTrace({ runId, tenantId: scope.tenant_id, waited, random, wallClock, onSpan: trace }),
    })
    this.#owned.set(runId, { run, lastDelivered: 0, open: new Set(), isReading: false, settled: Promise.resolve() })
    return run
  }

  /** Releases a run that has not started, for another process. False: it has started and must be finished. */
  async release(run: OwnedRun): Promise<boolean> {
    const { database } = this.#options
    const answer = await database.transaction(run.scope, tx => releaseRun(tx, run.scope, run.owned))
    if (answer === 'not_allowed') return false
    run.markLost()
    return true
  }

  /** Stops renewing. Others take the runs that are still owned when their leases end. */
  close(): void {
    this.#closed = true
    this.#unsubscribe()
    this.#timer?.cancel()
  }

  #schedule(inMs: Ms = this.#leaseMs / 3): void {
    if (this.#closed) return
    const { time } = this.#options
    this.#timer?.cancel()
    this.#timer = time.at(time.now() + inMs, () => void this.#renewAll())
  }

  async #renewAll(): Promise<void> {
    this.#timer?.cancel()
    const entries = [...this.#owned.values()]
    let busy = false
    try {
      const renewed = new Map((await this.#renew(entries.map(({ run }) => run.owned))).map(row => [row.run_id, row]))
      for (const entry of entries) {
        const row = renewed.get(entry.run.runId)
        if (row === undefined) entry.run.markLost()
        else this.#deliverPending(entry, row)
        busy ||= row?.busy === true
      }
      this.#renewals.worked()
    } catch (error) {
      // Calls go on without a database; when it is back, the leases of runs that nobody took are renewed.
      this.#renewals.failed(error)
    }
    this.#schedule(busy ? BUSY_MS : this.#leaseMs / 3)
  }

  #renew(runs: readonly RunOwnership[]): Promise<RenewedRun[]> {
    const { database, owner, leases = database } = this.#options
    return leases.runs.renew(owner.engine, runs, this.#leaseMs)
  }

  async #isStillOwned(owned: RunOwnership): Promise<boolean> {
    const entry = this.#owned.get(owned.run_id)
    if (entry === undefined) return false
    return (await this.#renew([owned])).length === 1
  }

  /** Reads what is requested of a run, after a message of the bus. */
  async #refresh(entry: OwnedEntry): Promise<void> {
    try {
      entry.run.deliver({ type: 'message' })
      const [row] = await this.#renew([entry.run.owned])
      if (row === undefined) entry.run.markLost()
      else this.#deliverPending(entry, row)
    } catch (error) {
      this.#problem('orders cannot be read', error)
    }
  }

  #deliverPending(entry: OwnedEntry, { cancel_asked, last_update }: RenewedRun): void {
    if (cancel_asked) entry.run.deliver({ type: 'cancel' })
    if (last_update > entry.lastDelivered) void this.#deliverUpdates(entry, last_update)
    if (entry.open.size > 0) void this.#noteLateUpdates(entry)
  }

  async #deliverUpdates(entry: OwnedEntry, newest: number): Promise<void> {
    if (entry.isReading) return
    entry.isReading = true
    const { database } = this.#options
    const { run } = entry
    try {
      const taken = await database.transaction(run.scope, tx => takeUpdates(tx, run.scope, run.owned))
      for (const update of taken) {
        if (update.revision <= entry.lastDelivered) continue
        entry.lastDelivered = update.revision
        entry.open.add(update.revision)
        const { update_id, change } = update
        const settle = (outcome: UpdateOutcome) => {
          const settled = entry.settled.then(() => this.#settle(entry, update, outcome))
          entry.settled = settled
          return settled
        }
        run.deliver({ type: 'update', update_id, change, settle })
      }
      entry.lastDelivered = Math.max(entry.lastDelivered, newest)
    } catch (error) {
      this.#problem('updates cannot be read', error)
    } finally {
      entry.isReading = false
    }
  }

  /** Whether the outcome was stored. The database may reject an update that the owner would apply, or have settled it before. */
  async #settle(entry: OwnedEntry, { revision, update_id }: PendingUpdate, outcome: UpdateOutcome): Promise<boolean> {
    const { database, bus } = this.#options
    const { run, open } = entry
    try {
      const receipt = await database.transaction(run.scope, tx =>
        settleUpdate(tx, run.scope, run.owned, revision, outcome),
      )
      if (receipt === null) await this.#noteLateUpdates(entry)
      else if (open.delete(revision)) run.note({ kind: 'update', update_id, status: receipt.status })
      bus.publish('runs', run.runId)
      return receipt?.status === outcome.status
    } catch (error) {
      // The sweep settles it at its deadline.
      this.#problem('an update cannot be settled', error)
      return false
    }
  }

  /** Writes updates that a sweep settled after their deadline into the timeline: only the owner numbers its items. */
  async #noteLateUpdates({ run, open }: OwnedEntry): Promise<void> {
    const { database } = this.#options
    try {
      for (const revision of open) {
        const receipt = await readUpdate(database.within(run.scope), run.scope, run.runId, revision)
        if (receipt?.status !== 'indeterminate' || !open.delete(revision)) continue
        run.note({ kind: 'update', update_id: receipt.update_id, status: receipt.status })
      }
    } catch (error) {
      this.#problem('updates cannot be read', error)
    }
  }

  #problem(what: string, error: unknown): void {
    if (StoreError.is(error, 'run_lost')) return
    this.#options.onProblem?.(what, error)
  }
}
