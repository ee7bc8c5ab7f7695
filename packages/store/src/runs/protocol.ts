import type { Scope } from '@parley/contract'
import type { JsonObject, PhoneState, RunChannel, RunKind, RunMode, RunState } from '../schema-runs.ts'

/** Who runs runs: a process, and who in it. */
export interface RunOwner {
  /** Of one process: never used by another, also after a restart. */
  readonly engine: string
  readonly worker: string | null
}

/** A run in somebody's hands. Every write carries it, and does nothing (`lost`) once somebody else has the run, or nobody. */
export interface RunOwnership {
  readonly run_id: string
  /** int8 as text: rises with every owner. */
  readonly fence: string
}

/** A webhook that somebody was given to send: its own until the lease ends. */
export interface OutboxItem {
  /** int8 as text. */
  readonly outbox_id: string
  readonly run_id: string
  readonly scope: Scope
  readonly event_id: string
  readonly event: string
  /** The run as it was then; null: as it is. */
  readonly payload: JsonObject | null
  readonly occurred_at: string
  /** Sends begun, this one too; also the fence of who sends. */
  readonly attempts: number
}

export interface EngineRow {
  readonly engine_id: string
  readonly addresses: JsonObject
  /** Runs at once. */
  readonly capacity: number
  readonly live: number
  readonly draining: boolean
  readonly started_at: string
  readonly heartbeat_at: string
}

/** The processes that run calls and jobs: no tenant's. Times are on the database's clock. */
export interface Engines {
  /** `engine_id` is of one process: never used by another, also after a restart. */
  register(engine: Pick<EngineRow, 'engine_id' | 'addresses' | 'capacity'>): Promise<void>
  /** False: it was forgotten, and registers again. */
  heartbeat(engineId: string, live: number, draining: boolean): Promise<boolean>
  /** Those that were heard within `withinMs`. */
  present(withinMs: number): Promise<EngineRow[]>
  forget(engineId: string): Promise<void>
  /** Forgets those not heard for `silentMs`; answers which. Their runs are the reaper's. */
  forgetSilent(silentMs: number): Promise<string[]>
}

/** A run that its owner still has. */
export interface RenewedRun {
  readonly run_id: string
  /** It was being written to at this moment and was not renewed: renew it again, soon. */
  readonly busy: boolean
  /** Somebody wants it to end. */
  readonly cancel_asked: boolean
  /** Revision of its newest update; 0: none. */
  readonly last_update: number
}

export interface WaitingRun {
  readonly run_id: string
  readonly scope: Scope
  readonly admitted_at: string
}

/** A run taken over from an owner that stopped renewing. */
export interface ReapedRun extends RunOwnership {
  readonly scope: Scope
  readonly channel: RunChannel
  readonly mode: RunMode
  readonly state: RunState
  readonly phone_state: PhoneState | null
  readonly lost_engine: string
  readonly lost_worker: string | null
  /** When its last true owner renewed: its far end may be busy for 28 s from then. */
  readonly last_renewed_at: string
  /** Of the timeline. */
  readonly last_seq: number
  /** As `storeDial` and `storeDialog` kept them: for CANCEL and BYE. */
  readonly dial: JsonObject | null
  readonly dialog: JsonObject | null
}

/** What engines, workers and sweeps do with the runs of all tenants. Times are on the database's clock. */
export interface RunsAcrossTenants {
  /**
   * Keeps the owner's leases for `leaseMs` (9000) from now, also those that ended, where nobody took the run meanwhile.
   * What is not in the answer is lost: hang up, and write nothing.
   */
  renew(engine: string, runs: readonly RunOwnership[], leaseMs?: number): Promise<RenewedRun[]>
  /**
   * Runs that wait for an owner; `claimRun` takes one. First those of tenants with the fewest under way (`underWay`: the
   * tenant of each, default none), then the oldest: no tenant's many keep another's one waiting.
   */
  waiting(kind: RunKind, atMost: number, underWay?: readonly string[]): Promise<WaitingRun[]>
  /**
   * Takes over runs whose lease ended, each by one reaper; what they were sending and cannot be sent twice is `uncertain`
   * then. The reaper ends them (`finishRun`, with `engine_lost`; one that is still `admitted` as `expired`, or
   * `releaseRun` lets another have it). After the database was away, wait one lease before it.
   */
  reap(reaper: RunOwner, atMost: number, leaseMs?: number): Promise<ReapedRun[]>
  /** Ends admitted runs that nobody took in time; answers which. */
  expire(atMost: number): Promise<{ readonly run_id: string; readonly tenant_id: string }[]>
  /** Settles updates that no engine answered in time, and tells the timelines of runs that nobody owns; answers which. */
  expireUpdates(atMost: number): Promise<{ readonly run_id: string; readonly revision: number }[]>
  readonly engines: Engines
}

/** A run, and whose it is. */
export interface RunOfTenant {
  readonly run_id: string
  readonly scope: Scope
}

/** What is kept of runs, and for how long: across tenants, for workers. Times are on the database's clock. */
export interface ContentsAcrossTenants {
  /**
   * Recordings to be joined, those that wait longest first: closed by their recorder, or of a run that ended `graceMs`
   * ago without that, while nobody says to have more of it. `takeJoin` takes one.
   */
  recordingsToJoin(atMost: number, graceMs: number): Promise<RunOfTenant[]>
  /**
   * Recordings past their environment's retention become `expired`, about `atMost` at a time. Answers whose blobs are to
   * be deleted, until `forgetBlobs` says that they are gone.
   */
  expireRecordings(atMost: number): Promise<RunOfTenant[]>
  /**
   * Takes transcripts, digits, analysis and variables out of at most `atMost` runs past their environment's retention;
   * answers how many.
   */
  expireTranscripts(atMost: number): Promise<number>
}
