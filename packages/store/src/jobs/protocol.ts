import type { Scope } from '@parley/contract'
import type { ReapedRun, RunOwner } from '../runs/protocol.ts'
import type { RunKind } from '../schema-runs.ts'

/** A run whose owner died, in the hands of who ends it. */
export interface LostRun extends ReapedRun {
  readonly kind: RunKind
  /** How long ago its last true owner renewed, on the database's clock. */
  readonly renewed_ms_ago: number
  /** Somebody had asked for its end. */
  readonly cancel_asked: boolean
  /** int8 as text: from `active` to the owner's last renewal, ms; null: it never was. */
  readonly connected_ms: string | null
}

export interface ReapOptions {
  /** What `clock` said just before: nothing is taken where that was more than 2 s ago. */
  readonly askedAt: string
  readonly atMost: number
  /** For how long the taken runs are the reaper's. */
  readonly leaseMs: number
  /** Nothing is taken from owners before the server has been up for this long: they must have had the time to renew. */
  readonly restMs: number
}

/** An analysis that somebody was given to make: its own until the lease ends. */
export interface DueAnalysis {
  readonly run_id: string
  readonly scope: Scope
  /** Tries begun, this one too; also the fence of who tries. */
  readonly attempts: number
}

/** What is carried out environment by environment; `alerts` are evaluations of alert rules. */
export type DueWork = 'webhooks' | 'analyses' | 'alerts' | 'alert_deliveries' | 'knowledge' | 'trials'

/** What workers do for the runs of all tenants. Times are on the database's clock. */
export interface JobsAcrossTenants {
  /** The database's clock, now. */
  clock(): Promise<string>
  /** As `RunsAcrossTenants.reap`, but never takes what its owner had no chance to renew. */
  reap(reaper: RunOwner, options: ReapOptions): Promise<LostRun[]>
  /**
   * Environments in which such work is due and nobody has it, in the order of their tenant ids, those after `after`
   * (null: from the first).
   */
  environmentsDue(work: DueWork, after: string | null, atMost: number): Promise<Scope[]>
  /** Deletes numbers that were forgotten longer ago than any call is remembered; returns how many. */
  pruneForgottenNumbers(atMost: number): Promise<number>
}
