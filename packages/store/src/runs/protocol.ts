import type { Scope } from '@parley/contract'
import type { JsonObject, Meter, PhoneState, RunChannel, RunKind, RunMode, RunState } from '../schema-runs.ts'

/** Owner of runs: a process and, in it, a worker. */
export interface RunOwner {
  /** Unique per process start. */
  readonly engine: string
  readonly worker: string | null
}

/** Ownership of a run. Each write needs it, and returns `lost` without any change once it is no longer valid. */
export interface RunOwnership {
  readonly run_id: string
  /** Fencing token, int8 as text: rises with each owner. */
  readonly fence: string
}

/** Usage of one meter. */
export interface Measurement {
  readonly meter: Meter
  readonly provider: string | null
  readonly model_id: string | null
  /** Whole, at least 0: ms, tokens or characters. */
  readonly quantity: number
}

/** A webhook leased by a sender. */
export interface OutboxItem {
  /** int8 as text. */
  readonly outbox_id: string
  readonly run_id: string
  readonly scope: Scope
  readonly event_id: string
  readonly event: string
  /** The run at the time of the event; null: read it now. */
  readonly payload: JsonObject | null
  readonly occurred_at: string
  /** Number of attempts, this one included; also the sender's fencing token. */
  readonly attempts: number
}

export interface EngineRow {
  readonly engine_id: string
  readonly addresses: JsonObject
  /** Number of concurrent runs. */
  readonly capacity: number
  readonly live: number
  readonly draining: boolean
  readonly started_at: string
  readonly heartbeat_at: string
}

/** Registry of the processes that run calls and jobs, for all tenants. Times are on the database's clock. */
export interface Engines {
  /** `engine_id`: unique per process start. */
  register(engine: Pick<EngineRow, 'engine_id' | 'addresses' | 'capacity'>): Promise<void>
  /** Heartbeat. False: the engine was removed and has to register again. */
  heartbeat(engineId: string, live: number, draining: boolean): Promise<boolean>
  /** Engines with a heartbeat within `withinMs`. */
  present(withinMs: number): Promise<EngineRow[]>
  forget(engineId: string): Promise<void>
  /** Removes engines without a heartbeat for `silentMs`; returns their ids. The reaper takes over their runs. */
  forgetSilent(silentMs: number): Promise<string[]>
}

/** A run whose lease was renewed. */
export interface RenewedRun {
  readonly run_id: string
  /** A concurrent write had locked the run, so that it was not renewed: renew it again soon. */
  readonly busy: boolean
  /** Whether a cancellation was requested. */
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
  /** Last renewal by an owner other than a reaper: the far end may be busy for 28 s after it. */
  readonly last_renewed_at: string
  /** Sequence number of the last timeline item. */
  readonly last_seq: number
  /** As stored by `storeDial` and `storeDialog`, for CANCEL and BYE. */
  readonly dial: JsonObject | null
  readonly dialog: JsonObject | null
}

/** Operations of engines, workers and sweeps on the runs of all tenants. Times are on the database's clock. */
export interface RunsAcrossTenants {
  /**
   * Renews the owner's leases for `leaseMs` (9000) from now, expired ones included unless the run was taken over. Runs
   * that are not in the result are lost: hang up, and write nothing.
   */
  renew(engine: string, runs: readonly RunOwnership[], leaseMs?: number): Promise<RenewedRun[]>
  /**
   * Runs that wait for an owner; `claimRun` takes one. Those of tenants with the fewest running ones come first
   * (`underWay`: the tenant of each, default none), then the oldest, so that a tenant's backlog does not delay others.
   */
  waiting(kind: RunKind, atMost: number, underWay?: readonly string[]): Promise<WaitingRun[]>
  /**
   * Takes over runs with an expired lease, each by one reaper. Their effects that were being sent and are not idempotent
   * become `uncertain`. The reaper ends the runs (`finishRun` with `engine_lost`); one that is still `admitted` ends as
   * `expired` or is released with `releaseRun`. After an outage of the database, wait one lease before calling it.
   */
  reap(reaper: RunOwner, atMost: number, leaseMs?: number): Promise<ReapedRun[]>
  /** Ends admitted runs without an owner that have expired; returns them. */
  expire(atMost: number): Promise<{ readonly run_id: string; readonly tenant_id: string }[]>
  /** Settles updates past their deadline, adds them to the timelines of runs without an owner, and returns them. */
  expireUpdates(atMost: number): Promise<{ readonly run_id: string; readonly revision: number }[]>
  readonly engines: Engines
}

/** A run and its scope. */
export interface RunOfTenant {
  readonly run_id: string
  readonly scope: Scope
}

/** Recordings and retention across tenants, for workers. Times are on the database's clock. */
export interface ContentsAcrossTenants {
  /**
   * Recordings to be joined, the longest waiting first: closed by their recorder, or not closed and of a run that ended
   * `graceMs` ago, unless a process has announced more segments. `takeJoin` takes one.
   */
  recordingsToJoin(atMost: number, graceMs: number): Promise<RunOfTenant[]>
  /**
   * Marks recordings past their environment's retention as `expired`, about `atMost` at a time. Returns those whose blobs
   * are to be deleted, until `forgetBlobs` confirms the deletion.
   */
  expireRecordings(atMost: number): Promise<RunOfTenant[]>
  /**
   * Deletes transcripts, digits, analyses and variables of at most `atMost` runs past their environment's retention;
   * returns their number.
   */
  expireTranscripts(atMost: number): Promise<number>
}
