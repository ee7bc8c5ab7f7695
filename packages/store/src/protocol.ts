import type { Scope } from '@parley/contract'
import type { Ms } from '@parley/kernel'
import type { Kysely } from 'kysely'
import type { JobsAcrossTenants } from './jobs/protocol.ts'
import type { PeopleAcrossTenants } from './people/protocol.ts'
import type { PresentedKey } from './presented-key.ts'
import type { SigningAcrossTenants } from './release/protocol.ts'
import type { ContentsAcrossTenants, RunsAcrossTenants } from './runs/protocol.ts'
import type { Schema } from './schema.ts'
import type { TelephonyAcrossTenants } from './telephony/protocol.ts'
import type { WebAcrossTenants } from './web/protocol.ts'

/** Typed queries on the database, in the scope that they were made for. */
export type Queries = Kysely<Schema>

/** The key that a secret belongs to, and its permissions. */
export interface KeyHolder extends PresentedKey {
  readonly role: 'viewer' | 'member' | 'admin'
  readonly can_dial: boolean
  readonly scope: Scope
  /** ISO time at which this secret stops working, as known now; null: none. */
  readonly valid_until: string | null
  /** Requests per second and burst that staff set for the environment; null: the platform's. */
  readonly rate: { readonly perSecond: number; readonly burst: number } | null
}

/**
 * Postgres as the application uses it: with a role that is neither superuser nor owner, one tenant at a time.
 * Errors: `database_unavailable` (retryable, nothing happened), `outcome_unknown` (the connection was lost while committing).
 */
export interface Database {
  /**
   * Queries of one tenant, each in a read-only transaction of its own that takes one round trip. To read several tables in one
   * snapshot, use one statement with joins.
   */
  within(scope: Scope): Queries
  /**
   * One transaction in one tenant. When `work` throws, it is rolled back and the error is thrown. It runs again (at most twice)
   * after a serialisation failure, so `work` may act on nothing but the database. COMMIT travels with the statements of
   * `lastWrites`, which must be begun together. `'one-trip'`: with those of `work`, which must be begun together, so that the whole
   * transaction is one round trip.
   */
  transaction<Result>(
    scope: Scope,
    work: (tx: Queries) => Promise<Result>,
    lastWrites?: ((tx: Queries, result: Result) => Promise<unknown>) | 'one-trip',
  ): Promise<Result>
  /** The key whose secret has this SHA-256; null: there is none, or it is revoked or expired. Across tenants. */
  keyOf(secretHash: Buffer): Promise<KeyHolder | null>
  /** Stores that the keys were used now, to the minute. Across tenants. */
  touchKeys(keyIds: readonly string[]): Promise<void>
  /** Deletes at most `atMost` idempotency records older than `keepMs`; resolves to their number. Across tenants. */
  forgetIdempotency(keepMs: number, atMost: number): Promise<number>
  /** Sessions, and people by their e-mail address: across tenants. */
  readonly people: PeopleAcrossTenants
  /** Leases of processes: across tenants. */
  readonly leases: Leases
  /** Ownership of runs, and sweeps over them: across tenants. */
  readonly runs: RunsAcrossTenants
  /** Queries of workers: across tenants. */
  readonly jobs: JobsAcrossTenants
  /** Recordings to be joined, and contents past their retention: across tenants. */
  readonly contents: ContentsAcrossTenants
  /** Trunks as engines need them: across tenants. */
  readonly telephony: TelephonyAcrossTenants
  /** Web calls by their secrets: across tenants. */
  readonly web: WebAcrossTenants
  /** Keys that sign certificates. */
  readonly signing: SigningAcrossTenants
  /** Resolves when the database answers a query; rejects after `withinMs`, by default 2 s. */
  ping(withinMs?: Ms): Promise<void>
  close(): Promise<void>
}

/** Ownership of a named resource by one process. A fence is never used twice for a name. */
export interface Lease {
  readonly name: string
  /** int8 as text: rises with every owner. */
  readonly fence: string
  /** ISO time on the database's clock. */
  readonly expires_at: string
}

/** Leases on the database's clock: a process that stops renewing loses its lease, whatever its own clock shows. */
export interface Leases {
  /** Takes the lease if it is free or expired; null: it is held, also if by `owner` itself. */
  acquire(name: string, owner: string, leaseMs: number): Promise<Lease | null>
  /** Extends the lease to `leaseMs` from now. Null: it has expired, whether or not another process took it. */
  renew(lease: Lease, leaseMs: number): Promise<Lease | null>
  /** Frees the lease at once. False: it was lost already. */
  release(lease: Lease): Promise<boolean>
}

/** Authenticated encryption under the platform's master key. Opening needs the same `context`, which names the owner of the value. */
export interface Sealer {
  seal(plain: Buffer, context: string): Buffer
  /** Throws `seal_broken` for anything that was not sealed under this master key and context. */
  open(sealed: Buffer, context: string): Buffer
}

/** Kinds of changes that other processes cache or wait for. */
export type Topic =
  | 'keys'
  /** A member changed or a session ended; the id is the member's or the session's. */
  | 'people'
  | 'telephony'
  | 'publications'
  | 'tenants'
  /** A run changed; the id is the run's. */
  | 'runs'
  /** The owner of a run has a command to read; the id is the run's. */
  | 'run_orders'
  /** The browser of a web call sent something; the id is the run's. */
  | 'web_calls'
  /** A browser wants to listen to a call; the id is the run's. */
  | 'listeners'

/** Notifies every process of changes. A lost message costs time only: listeners also poll now and then. */
export interface Bus {
  /** Call it after the commit, never inside a transaction. The same topic and id within a few ms is sent once. Never throws. */
  publish(topic: Topic, id: string): void
  /** The returned function unsubscribes. `reconnected` is called when messages may have been missed. */
  subscribe(topic: Topic, listener: (id: string) => void, reconnected?: () => void): () => void
  close(): Promise<void>
}
