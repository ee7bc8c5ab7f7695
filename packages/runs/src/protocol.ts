import type { Scope } from '@parley/contract'
import type { Ms } from '@parley/kernel'
import type { DueWork, RunChange, RunKind } from '@parley/store'

/** What is asked of whoever has a run. */
export type RunCommand =
  /** The run is somebody else's, or over: hang up, and write nothing. Last order. */
  | { readonly type: 'lost' }
  /** Somebody wants it to end. Once. */
  | { readonly type: 'cancel' }
  /** Variables or metadata changed. Answered with `settle`, once; what nobody answers in time becomes `indeterminate`. */
  | {
      readonly type: 'update'
      readonly update_id: string
      readonly change: RunChange
      readonly settle: (outcome: UpdateOutcome) => void
    }
  /** Somebody says something in a chat. There may be more than one message, or none by now. */
  | { readonly type: 'message' }

export type UpdateOutcome = { readonly status: 'applied' } | { readonly status: 'rejected'; readonly reason: string }

/** A run that waits for an owner. */
export interface Work {
  readonly kind: RunKind
  readonly run_id: string
  readonly scope: Scope
}

/** Wakes whoever runs such work. Losing a wake-up loses nothing but time: a sweep finds what waits. */
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
