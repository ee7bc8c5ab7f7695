import type { PrincipalRef, Scope } from '@parley/contract'
import type { Queries } from '@parley/store'
import type { AuditedResource } from '../context.ts'
import type { Finished } from './answer.ts'

/** A request that runs once however often it comes: it belongs to its tenant, principal, operation and key. */
export interface RecordedRequest {
  readonly scope: Scope
  /** `api_key/<id>`. */
  readonly principal: string
  readonly operation: string
  readonly key: string
  /** SHA-256 of what was asked. */
  readonly hash: Buffer
}

/** `ours`: it runs now. `expired`: it ran outside of the database, and nobody knows what came of it. */
export type Claimed =
  | { readonly kind: 'ours' | 'conflict' | 'in_progress' | 'expired' }
  | { readonly kind: 'kept'; readonly answer: Finished }

export type AuditOutcome = 'allowed' | 'denied' | 'failed'

export interface AuditItem {
  readonly scope: Scope
  readonly principal: PrincipalRef
  readonly action: string
  readonly resource: AuditedResource | null
  readonly outcome: AuditOutcome
  readonly requestId: string
}

/** Records of requests and of who did what, each in the transaction at hand. */
export interface Records {
  /** Holds the record until the transaction ends, or says at once why not; never waits for another. */
  claim(tx: Queries, request: RecordedRequest): Promise<Claimed>
  keep(tx: Queries, request: RecordedRequest, answer: Finished): Promise<void>
  /** As `claim`, but held for `leaseMs` after the commit. */
  lease(tx: Queries, request: RecordedRequest, leaseMs: number): Promise<Claimed>
  /** Throws when the lease went to somebody else meanwhile. */
  keepLeased(tx: Queries, request: RecordedRequest, answer: Finished): Promise<void>
  /** The key is free, as if the request had never come. */
  release(tx: Queries, request: RecordedRequest): Promise<void>
  audit(tx: Queries, item: AuditItem): Promise<void>
}
