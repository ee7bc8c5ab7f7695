import type {
  AnswerOf,
  auditItem,
  Handler,
  InputOf,
  Operation,
  OperationId,
  OperationNamed,
  ownKeyProvider,
  PrincipalRef,
  Role,
  Scope,
} from '@parley/contract'
import type { TraceSink } from '@parley/kernel'
import type { Blobs, DueWork, Queries, RunKind, Sealer, Topic } from '@parley/store'
import type { z } from 'zod'
import type { Catalogue } from './catalogue.ts'
import type { LastWrite } from './pipeline/last-writes.ts'
import type { Offload } from './pipeline/offload.ts'
import type { SecretVersions } from './reading/import-reading.ts'
import type { Reading } from './reading/read-task.ts'
import type { ReadingThreads } from './reading/reading-threads.ts'

/** The principal on whose behalf a handler runs. */
export interface Principal {
  readonly ref: PrincipalRef
  readonly role: Role
  /** Whether it may place real phone calls. */
  readonly canDial: boolean
  readonly scope: Scope
  readonly rate: { readonly perSecond: number; readonly burst: number } | null
}

/** The resource that an audit item names. */
export type AuditedResource = Omit<NonNullable<z.output<typeof auditItem>['resource']>, 'tenant_id'>

/** A run that waits for an owner. */
export interface WaitingRun {
  readonly kind: RunKind
  readonly run_id: string
  readonly scope: Scope
}

/** A link that opens a console session once, for a person. */
export interface PersonLink {
  readonly kind: 'invitation' | 'login'
  readonly email: string
  readonly organisation: string
  /** The token is in its fragment. */
  readonly url: string
  /** ISO time. */
  readonly expires_at: string
}

/** Why a search of documents was refused or failed. */
export type KnowledgeFailure = 'not_configured' | 'no_generation' | 'model_not_ready' | 'provider_unavailable'

interface KnowledgePort {
  /** Rejects with the errors of the database only. */
  search(
    scope: Scope,
    query: {
      readonly query: string
      readonly topK: number
      readonly minScore: number
      readonly documentIds: readonly string[] | null
    },
  ): Promise<
    | { readonly state: 'found'; readonly body: AnswerOf<OperationNamed<'knowledge.search'>>['body'] }
    | { readonly state: 'failed'; readonly failure: KnowledgeFailure; readonly message: string }
  >
}

/** A provider's API key that is checked before it is stored. */
export interface KeyToCheck {
  readonly provider: z.output<typeof ownKeyProvider>
  readonly key: string
  /** Base URL of the service; null: the provider's own. */
  readonly endpoint: string | null
}

/** Whether a provider accepts a key. */
export type KeyVerdict =
  /** `models`: the language models that an OpenAI-compatible service names. */
  | { readonly outcome: 'accepted'; readonly models: readonly string[] }
  | { readonly outcome: 'rejected'; readonly status: number }
  | { readonly outcome: 'unreachable'; readonly reason: string }
  | { readonly outcome: 'address_not_allowed' }

/** A voice with its settings, and the text that it is to speak. */
export interface PreviewRequest {
  readonly provider: string
  readonly model: string
  readonly voiceId: string
  readonly language: 'en' | 'es'
  readonly text: string
  /** 0.5 to 2. */
  readonly speed: number
  /** 0 to 2. */
  readonly expressiveness: number
}

/** Speech as MP3, or why there is none. */
export type PreviewOutcome =
  | { readonly state: 'rendered'; readonly mp3: Uint8Array }
  | { readonly state: 'failed'; readonly message: string }

/** The LiveKit server of web calls. */
interface WebRooms {
  /** The address and the token with which the browser of a web run joins its room; the token is valid for `validForMs`. */
  readonly visitorAccess: (
    runId: string,
    validForMs: number,
  ) => Promise<{ readonly url: string; readonly token: string }>
}

/** A TURN or STUN server, as `RTCIceServer` of a browser. */
export interface BrowserIceServer {
  readonly urls: string[]
  readonly username?: string | undefined
  readonly credential?: string | undefined
}

/** Services of the platform, the same for all requests. */
export interface Platform {
  /** Models, voices and recognisers, and which of them are ready now with the keys of the platform and of the environment. */
  readonly catalogue: (scope: Scope, db: Queries) => Catalogue | Promise<Catalogue>
  /** Asks a provider whether it accepts a key; within seconds, and without throwing. */
  readonly checkProviderKey: (key: KeyToCheck) => Promise<KeyVerdict>
  /** Speaks a line with a voice of the catalogue; within seconds, and without throwing for failures of the voice. */
  readonly previewVoice: (scope: Scope, request: PreviewRequest) => Promise<PreviewOutcome>
  readonly sealer: Sealer
  /** Takes the spans of requests that admit runs. Default: tracing is off. */
  readonly trace?: TraceSink
  /** Where carriers send inbound calls: `sip:<token>@<domain>:<tlsPort>;transport=tls`. */
  readonly sip: { readonly domain: string; readonly tlsPort: number }
  /** Whether the operator has allowed agents to reach this plain `http://host:port`. */
  readonly allowsPlainHttp: (url: URL) => boolean
  /** Whether a trunk may lead to this host, as far as its name says; what it resolves to is checked at each call. */
  readonly allowsSipHost: (host: string) => boolean
  /** Wakes a process that executes runs of this kind. Never throws or waits; a periodic sweep finds runs whose wake-up was lost. */
  readonly wake: (work: WaitingRun) => void
  /** Wakes a worker for work that is due in an environment. Never throws or waits; a periodic sweep finds what was lost. */
  readonly due: (work: DueWork, scope: Scope) => void
  /** Searches the documents of an environment. */
  readonly knowledge: KnowledgePort
  /** Storage of recordings. */
  readonly blobs: Pick<Blobs, 'get'>
  /** Delivery of invitation and login links to people. */
  readonly links: {
    /** Whether links are sent by e-mail; otherwise they are written to the log. */
    readonly areMailed: boolean
    /** Sends or logs a link. Never throws or waits. */
    readonly deliver: (link: PersonLink) => void
  }
  /** TURN and STUN servers for a browser, with a credential that is valid until `expiresAt`, Unix ms; `name`: the user that the servers log. */
  readonly iceServers: (name: string, expiresAt: number) => BrowserIceServer[]
  /** Default: web calls are direct. */
  readonly webRooms?: WebRooms
  /** Base URL under which others reach the API, for links: `https://host`, without a slash at its end. */
  readonly baseUrl: () => string
  /** Random bytes of cryptographic quality. */
  readonly randomBytes: (count: number) => Buffer
  /** Unix ms. */
  readonly now: () => number
}

/** What a handler gets besides its input. */
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
  /** A large body that a worker thread parsed; `agent` and `flow` of the input are then empty. */
  readonly reading?: Reading | undefined
  /** Worker threads for large drafts. Default: the work runs on the main thread. */
  readonly threads?: Pick<ReadingThreads, 'work'> | undefined
  /** Runs long work outside the transaction of the operation. Default: the work runs while the transaction is open. */
  readonly offload?: Offload | undefined
  /** The Idempotency-Key header; null when the operation takes none. */
  readonly idempotencyKey: string | null
  /** Sets the resource of this request's audit item. Default: none. */
  auditResource(resource: AuditedResource): void
  /** Notifies other processes after the commit. */
  notifyAfterCommit(topic: Topic, id: string): void
  /** Delivers a link to a person, after the commit. */
  deliverAfterCommit(link: PersonLink): void
  /** Wakes a worker for work that is due in this environment, after the commit. */
  dueAfterCommit(work: DueWork): void
  /** Wakes a process that executes runs of this kind, after the commit. */
  wakeAfterCommit(work: WaitingRun): void
  /** Adds a write that is sent in the same round trip as the COMMIT. For transactional operations. */
  writeLast(write: LastWrite): void
}

/** What an `AfterCommit` step gets. */
export interface AfterCommitContext {
  readonly scope: Scope
  /** Each query is a round trip. */
  readonly db: Queries
  /** Unix ms. */
  readonly now: () => number
  /** Resolves when the run changes, or after `withinMs`. */
  waitForRunChange(runId: string, withinMs: number): Promise<void>
}

/**
 * Waits after the commit and completes the stored answer, also when that is replayed. No lock is held while it waits.
 */
export type AfterCommit<O extends Operation> = (
  stored: AnswerOf<O>,
  context: AfterCommitContext,
) => Promise<AnswerOf<O>>

/** A handler whose answer is completed after its commit. */
export function withAfterCommit<O extends Operation, Context>(
  handler: Handler<O, Context>,
  afterCommit: AfterCommit<O>,
): Handler<O, Context> & { readonly afterCommit: AfterCommit<O> } {
  return Object.assign(handler, { afterCommit })
}

/** Begins the first reads of a handler, with the context that the handler will get. */
export type FirstReads<O extends Operation, Context> = (input: InputOf<O>, context: Context) => void

/**
 * A handler of a transactional operation whose first `reads` are sent in the same round trip as the check of the credentials and of the
 * idempotency record. They begin before either check has passed, and must not reject; without the pipeline the handler begins them.
 */
export function withFirstReads<O extends Operation, Context extends object, Read>(
  reads: (input: InputOf<O>, context: Context) => Promise<Read>,
  handler: (input: InputOf<O>, context: Context, read: Promise<Read>) => Promise<AnswerOf<O>>,
): Handler<O, Context> & { readonly firstReads: FirstReads<O, Context> } {
  const begun = new WeakMap<Context, Promise<Read>>()
  return Object.assign(
    (input: InputOf<O>, context: Context) => handler(input, context, begun.get(context) ?? reads(input, context)),
    {
      firstReads: (input: InputOf<O>, context: Context) => void begun.set(context, reads(input, context)),
    },
  )
}

/** Reads what a worker thread needs from the database to parse a body; runs before any transaction. */
export type ReadingNeeds = (db: Queries, scope: Scope) => Promise<{ readonly secrets: SecretVersions }>

/** A handler whose large bodies are parsed on a worker thread. */
export function readOffThread<O extends Operation, Context>(
  handler: Handler<O, Context>,
  needs: ReadingNeeds,
): Handler<O, Context> & { readonly readingNeeds: ReadingNeeds } {
  return Object.assign(handler, { readingNeeds: needs })
}

/** The context of an `external` operation: no database connection is held while its handler runs. */
export interface ExternalContext extends Context {
  /**
   * Adds a write to the transaction that stores the answer; it may run more than once. When it throws, the answer is
   * `outcome_unknown`, since the external request cannot be undone.
   */
  storeWithAnswer(work: (tx: Queries) => Promise<void>): void
  /** A transaction of its own, committed when this resolves; it may run more than once. */
  transact<Result>(work: (tx: Queries) => Promise<Result>): Promise<Result>
  /** Notifies other processes at once. */
  notifyNow(topic: Topic, id: string): void
  /** Resolves when the run changes, or after `withinMs`. */
  waitForRunChange(runId: string, withinMs: number): Promise<void>
}

type ContextOf<Id extends OperationId> = OperationNamed<Id>['kind'] extends 'external' ? ExternalContext : Context

/** The handler of every operation; a missing handler is a type error. Handlers throw `Refusal`. */
export type Handlers = { readonly [Id in OperationId]: Handler<OperationNamed<Id>, ContextOf<Id>> }
