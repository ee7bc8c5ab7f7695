import type { CallRow } from './call-row.ts'
import type { LoadStage } from './load-stages.ts'
import type { ProcessSample } from './results.ts'
import type { Scenario } from './scenario.ts'

/** The address that the phones call, and the authority that they trust. */
export interface FleetTarget {
  /** SIP URI; null: the phones only answer. */
  readonly uri: string | null
  /** Certificate authorities of the target, PEM; empty: only the local one. */
  readonly ca: string
  readonly systemRoots: boolean
  readonly credentials: { readonly username: string; readonly password: string } | null
  /** SIP URI of the callers; null: that of the phone. */
  readonly from: string | null
}

export interface FleetPart {
  readonly scenario: Scenario
  readonly target: FleetTarget
  readonly index: number
  readonly of: number
  /** Folder of the phones' certificates. */
  readonly home: string
}

/** To a process of the fleet. */
export type FleetRequest =
  | { readonly type: 'open'; readonly part: FleetPart }
  | { readonly type: 'stage'; readonly stage: LoadStage }
  /** How many calls it has begun. */
  | { readonly type: 'count' }
  /** What it has measured since it was asked last. */
  | { readonly type: 'sample' }
  /** No new calls. */
  | { readonly type: 'stop' }
  /** Hangs up everything and ends. */
  | { readonly type: 'close' }

/** From a process of the fleet. */
export type FleetReply =
  | { readonly type: 'opened'; readonly uris: readonly string[] }
  | { readonly type: 'row'; readonly row: CallRow }
  | { readonly type: 'counted'; readonly begun: number }
  | { readonly type: 'sample'; readonly sample: ProcessSample }
  | { readonly type: 'closed' }
  | { readonly type: 'failed'; readonly message: string }
