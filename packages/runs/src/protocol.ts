import type { Scope } from '@parley/contract'
import type { Ms } from '@parley/kernel'
import type { DueWork, RunChange, RunKind } from '@parley/store'

/** A command for the owner of a run. */
export type RunCommand =
  /** Another process owns the run, or it is over: hang up and write nothing. The last command. */
  | { readonly type: 'lost' }
  /** The run is to end. Delivered once. */
  | { readonly type: 'cancel' }
  /** Variables or metadata are to change. Call `settle` once; an update that is not settled in time becomes `indeterminate`. */
  | {
      readonly type: 'update'
      readonly update_id: string
      readonly change: RunChange
      /** Resolves, in the order of the updates, to whether this outcome counts: apply the change only then. Never rejects. */
      readonly settle: (outcome: UpdateOutcome) => Promise<boolean>
    }
  /** A chat may have new messages: one, several, or none any more. */
  | { readonly type: 'message' }

export type UpdateOutcome = { readonly status: 'applied' } | { readonly status: 'rejected'; readonly reason: string }

/** A run that waits for an owner. */
export interface Work {
  readonly kind: RunKind
  readonly run_id: string
  readonly scope: Scope
}

/** Wakes a process that runs such work. A lost wake-up costs time only: owners also look for waiting runs. */
export interface RunQueue {
  /** Never throws, never waits. */
  wake(work: Work): void
  /**
   * Work of these kinds is given to one listener in all processes; one that is older than 30 s is dropped. The listener
   * claims the run by compare-and-set: another may have it. Ends by calling what it returns.
   */
  listen(kinds: readonly RunKind[], listener: (work: Work) => Promise<void>): Promise<() => Promise<void>>
}

/**
 * Work that is due in environments, as rows of the database: one job per environment and kind of work says that there is
 * some, and environments take turns in the order of their jobs. Losing a job loses nothing but time: a sweep finds what is
 * due.
 */
export interface EnvironmentQueue {
  /** Adds the environment's round, unless one waits already. Never throws, never waits. */
  wake(work: DueWork, scope: Scope): void
  /** Wakes the environment in `inMs`, at least 1; a later call for the same work and environment replaces the time. */
  wakeIn(work: DueWork, scope: Scope, inMs: Ms): void
  /**
   * Runs rounds of environments, at most `concurrency` at once in this process, and of one environment one in all
   * processes; a round that rejects is tried again later. What it returns ends that, without waiting for rounds under way.
   */
  listen(work: DueWork, concurrency: number, round: (scope: Scope) => Promise<void>): Promise<() => Promise<void>>
}
