import type { Scope } from '@parley/contract'
import type { Kysely } from 'kysely'
import type { JobsAcrossTenants } from './jobs/protocol.ts'
import type { ContentsAcrossTenants, RunsAcrossTenants } from './runs/protocol.ts'
import type { Schema } from './schema.ts'
import type { TelephonyAcrossTenants } from './telephony/protocol.ts'

/** Typed queries on the database, in whatever scope they were handed out for. */
export type Queries = Kysely<Schema>

/** The key that a secret belongs to, and what it may do. */
export interface KeyHolder {
  readonly key_id: string
  readonly role: 'viewer' | 'member' | 'admin'
  readonly can_dial: boolean
  readonly scope: Scope
  /** ISO time at which this secret stops working, known now; null: none. */
  readonly valid_until: string | null
  /** Requests per second and burst that staff set for the environment; null: the platform's. */
  readonly rate: { readonly perSecond: number; readonly burst: number } | null
}

/**
 * Postgres as the application sees it: through a role that is neither superuser nor owner, one tenant at a time.
 * Errors: `database_unavailable` (retryable, nothing happened), `outcome_unknown` (the connection went while committing).
 */
export interface Database {
  /**
   * Queries of one tenant, each in a read-only transaction of its own that takes one round trip. A statement that needs
   * another's snapshot joins it.
   */
  within(scope: Scope): Queries
  /**
   * One transaction in one tenant. Rolled back when `work` throws, which is thrown on; run again (at most twice) when
   * Postgres could not serialise it, so `work` acts on nothing but the database.
   */
  transaction<Result>(scope: Scope, work: (tx: Queries) => Promise<Result>): Promise<Result>
  /** Whose key has a secret of this SHA-256; null for none, a revoked or an expired one. Across tenants. */
  keyOf(secretHash: Buffer): Promise<KeyHolder | null>
  /** Notes that the keys were used now (kept to the minute). Across tenants. */
  touchKeys(keyIds: readonly string[]): Promise<void>
  /** Deletes at most `atMost` idempotency records older than `keepMs`; answers how many. Across tenants. */
  forgetIdempotency(keepMs: number, atMost: number): Promise<number>
  /** Who owns what: across tenants. */
  readonly leases: Leases
  /** Ownership of runs, and sweeps over them: across tenants. */
  readonly runs: RunsAcrossTenants
  /** What workers do for runs: across tenants. */
  readonly jobs: JobsAcrossTenants
  /** Recordings to be joined, and what is past retention: across tenants. */
  readonly contents: ContentsAcrossTenants
  /** Trunks as engines need them: across tenants. */
  readonly telephony: TelephonyAcrossTenants
  /** Resolves when a query was answered, rejects within 2 s otherwise. */
  ping(): Promise<void>
  close(): Promise<void>
}

/** Ownership of something by one process. The same fence never comes twice for a name. */
export interface Lease {
  readonly name: string
  /** int8 as text: rises with every owner. */
  readonly fence: string
  /** ISO time on the database's clock. */
  readonly expires_at: string
}

/** Leases on the database's clock: a process that stops renewing loses its own, whatever its own clock says. */
export interface Leases {
  /** Takes the lease if it is free or expired; null while another owner has it. Also for who had it before. */
  acquire(name: string, owner: string, leaseMs: number): Promise<Lease | null>
  /** Keeps the lease for `leaseMs` from now. Null when it is lost: expired, also if nobody took it yet. */
  renew(lease: Lease, leaseMs: number): Promise<Lease | null>
  /** Frees it at once. False when it was lost already. */
  release(lease: Lease): Promise<boolean>
}

/** Authenticated encryption under the platform's master key. `context` (what it belongs to) must be the same to open. */
export interface Sealer {
  seal(plain: Buffer, context: string): Buffer
  /** Throws `seal_broken` for anything that was not sealed under this master key and context. */
  open(sealed: Buffer, context: string): Buffer
}

/** What changed somewhere, of which others keep copies, or what somebody waits for. */
export type Topic =
  | 'keys'
  | 'telephony'
  | 'publications'
  | 'tenants'
  /** Of a run, by its id: there is news to read. */
  | 'runs'
  /** Of a live run, by its id: something is asked of its owner. */
  | 'run_orders'

/** Tells every process that something changed. Losing a message loses nothing but time: who listens also looks for itself now and then. */
export interface Bus {
  /** After commit, never inside a transaction. Coalesced: the same topic and id within a few ms is told once. Never throws. */
  publish(topic: Topic, id: string): void
  /** Ends by calling what it returns. `reconnected` says that messages may have been missed. */
  subscribe(topic: Topic, listener: (id: string) => void, reconnected?: () => void): () => void
  close(): Promise<void>
}
