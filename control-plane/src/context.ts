import type { Handler, OperationId, OperationNamed, PrincipalRef, Role, Scope } from '@parley/contract'
import type { Queries, Sealer, Topic } from '@parley/store'
import type { Catalogue } from './catalogue.ts'

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

/** What the platform is made of, the same for all requests. */
export interface Platform {
  /** Models, voices and recognisers, and which of them are ready now. */
  readonly catalogue: () => Catalogue
  readonly sealer: Sealer
  /** Where carriers send inbound calls: `sip:<token>@<domain>:<tlsPort>;transport=tls`. */
  readonly sip: { readonly domain: string; readonly tlsPort: number }
  /** Whether agents may reach `http://host:port` although it is not https: what the operator allowed by name. */
  readonly allowsPlainHttp: (url: URL) => boolean
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
  /** Names what the audit item of this request is about; default: nothing. */
  about(resource: AuditedResource): void
  /** Tells other processes after the commit. */
  announce(topic: Topic, id: string): void
}

/** Every operation's handler: one missing does not compile. Handlers throw `Refusal`. */
export type Handlers = { readonly [Id in OperationId]: Handler<OperationNamed<Id>, Context> }

/** Some of the handlers, by the ids they serve. */
export type HandlersOf<Ids extends OperationId> = Pick<Handlers, Ids>
