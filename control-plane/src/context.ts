import type {
  AnswerOf,
  Handler,
  Operation,
  OperationId,
  OperationNamed,
  PrincipalRef,
  Role,
  Scope,
} from '@parley/contract'
import type { Blobs, Queries, RunKind, Sealer, Topic } from '@parley/store'
import type { Catalogue } from './catalogue.ts'
import type { Offload } from './pipeline/offload.ts'
import type { SecretVersions } from './reading/import-reading.ts'
import type { Reading } from './reading/read-task.ts'
import type { ReadingThreads } from './reading/reading-threads.ts'

/** Who asks. */
export interface Principal {
  readonly ref: PrincipalRef
  readonly role: Role
  /** Whether it may place real phone calls. */
  readonly canDial: boolean
  readonly scope: Scope
  readonly rate: { readonly perSecond: number; readonly burst: number } | null
}

/** The resource an audit item names. */
export interface AuditedResource {
  readonly kind:
    | 'agent'
    | 'publication'
    | 'run'
    | 'document'
    | 'knowledge_generation'
    | 'evaluation'
    | 'trunk'
    | 'phone_number'
    | 'secret'
    | 'operation'
  readonly id: string
}

/** A run that waits for an owner. */
export interface WaitingWork {
  readonly kind: RunKind
  readonly run_id: string
  readonly scope: Scope
}

/** What the platform is made of, the same for all requests. */
export interface Platform {
  /** Models, voices and recognisers, and which of them are ready now. */
  readonly catalogue: () => Catalogue
  readonly sealer: Sealer
  /** Where carriers send inbound calls: `sip:<token>@<domain>:<tlsPort>;transport=tls`. */
  readonly sip: { readonly domain: string; readonly tlsPort: number }
  /** Whether agents may reach `http://host:port` although it is not https: what the operator allowed by name. */
  readonly allowsPlainHttp: (url: URL) => boolean
  /** Wakes whoever runs such work. Never throws, never waits: what nobody hears is found by a sweep. */
  readonly wake: (work: WaitingWork) => void
  /** Where recordings are. */
  readonly blobs: Pick<Blobs, 'get'>
  /** Base URL under which others reach the API, for links: `https://host`, without a slash at its end. */
  readonly baseUrl: () => string
  /** Random bytes of cryptographic quality. */
  readonly randomBytes: (count: number) => Buffer
  /** Unix ms. */
  readonly now: () => number
}

/** What a handler works with. */
export interface Context {
  readonly principal: Principal
  readonly scope: Scope
  readonly requestId: string
  /**
   * The tenant's database. For operations that read (GET, `readOnly` hint): each query is one round trip. For all others:
   * the transaction that also holds the idempotency record and the audit item, rolled back by any throw.
   */
  readonly db: Queries
  readonly platform: Platform
  /** What a thread has read in a body too large for this one: agent and flow of the input are empty then. Default: nothing. */
  readonly reading?: Reading | undefined
  /** Threads for what takes long. Default: there are none, and it is done here. */
  readonly threads?: Pick<ReadingThreads, 'work'> | undefined
  /** Of operations that have one transaction: how it waits for what takes long. Default: it waits as it is. */
  readonly aside?: Offload | undefined
  /** The header Idempotency-Key as it came; null where the operation takes none. */
  readonly idempotencyKey: string | null
  /** Names what the audit item of this request is about; default: nothing. */
  about(resource: AuditedResource): void
  /** Tells other processes after the commit. */
  announce(topic: Topic, id: string): void
  /** Wakes whoever runs such work, after the commit. */
  wake(work: WaitingWork): void
}

/** What an answer becomes after its commit. */
export interface AfterCommitContext {
  readonly scope: Scope
  /** Each query is a round trip. */
  readonly db: Queries
  /** Unix ms. */
  readonly now: () => number
  /** Resolves when there is news of the run, or after `withinMs`. */
  news(runId: string, withinMs: number): Promise<void>
}

/**
 * What is waited for after the commit, and told in place of the answer that was kept; also when that is replayed. While
 * it waits nothing is locked.
 */
export type AfterCommit<O extends Operation> = (kept: AnswerOf<O>, context: AfterCommitContext) => Promise<AnswerOf<O>>

/** A handler whose answer goes on after its commit. */
export function withAfterCommit<O extends Operation, Context>(
  handler: Handler<O, Context>,
  sequel: AfterCommit<O>,
): Handler<O, Context> & { readonly sequel: AfterCommit<O> } {
  return Object.assign(handler, { sequel })
}

/** What reading a body needs of the tenant's database; asked before any transaction. */
export type ReadingNeeds = (db: Queries, scope: Scope) => Promise<{ readonly secrets: SecretVersions }>

/** A handler of bodies that are read on a thread of their own where they are large. */
export function readOffThread<O extends Operation, Context>(
  handler: Handler<O, Context>,
  needs: ReadingNeeds,
): Handler<O, Context> & { readonly readingNeeds: ReadingNeeds } {
  return Object.assign(handler, { readingNeeds: needs })
}

/** What the handler of an `external` operation works with: no connection is held while it runs. */
export interface ExternalContext extends Context {
  /**
   * What the transaction that keeps the answer does as well; it may run more than once. When it throws, the answer is
   * `outcome_unknown`: what was asked outside cannot be taken back.
   */
  settle(work: (tx: Queries) => Promise<void>): void
  /** A transaction of its own, committed when this resolves; it may run more than once. */
  transact<Result>(work: (tx: Queries) => Promise<Result>): Promise<Result>
  /** Tells other processes at once. */
  publish(topic: Topic, id: string): void
  /** Resolves when there is news of the run, or after `withinMs`. */
  news(runId: string, withinMs: number): Promise<void>
}

/** Those whose kind is `external`. */
type ExternalId = 'runs.message'
type ContextOf<Id extends OperationId> = Id extends ExternalId ? ExternalContext : Context

/** Every operation's handler: one missing does not compile. Handlers throw `Refusal`. */
export type Handlers = { readonly [Id in OperationId]: Handler<OperationNamed<Id>, ContextOf<Id>> }

/** Some of the handlers, by the ids they serve. */
export type HandlersOf<Ids extends OperationId> = Pick<Handlers, Ids>
