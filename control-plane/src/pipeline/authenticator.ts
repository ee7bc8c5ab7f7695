import { Refusal } from '@parley/contract'
import type { KeyHolder, PresentedCredentials, SessionHolder } from '@parley/store'
import type { Principal } from '../context.ts'
import type { CredentialCache, CredentialHolder, PresentedSecret } from './credential-cache.ts'
import { invalidRequest } from './parse-request.ts'
import type { RateLimiter, RateLimitStatus } from './rate-limits.ts'

/** The credentials and the address of a request. */
export interface Credentials {
  /** The Authorization header; undefined: absent. It wins over a session. */
  readonly authorization: string | undefined
  /** IP address of the client. */
  readonly address: string
  /** Null: the request has no session cookie. Default null. */
  readonly session?: SessionCredentials | null
}

/** The cookie of a session, and what else decides whether it counts. */
export interface SessionCredentials {
  readonly token: string
  /** The header Parley-Environment; undefined: absent. */
  readonly environment: string | undefined
  /** Whether the request may be sent: it reads, or a page of this server sent it. */
  readonly isFromOwnPage: boolean
}

/** A client with a valid API key or session. */
export interface AuthenticatedClient {
  readonly holder: CredentialHolder
  /** Checked again in the transaction that decides an effect. */
  readonly presented: PresentedCredentials
  readonly principal: Principal
  /** The owner of its idempotency records: `api_key/<id>`, `user/<id>`. */
  readonly name: string
}

/** The client, or the refusal with the state of the rate limit that the request was counted against. */
type AuthenticationResult =
  | { readonly client: AuthenticatedClient; readonly refusal: null; readonly rateLimit: null }
  | { readonly client: null; readonly refusal: Refusal; readonly rateLimit: RateLimitStatus }

/** RFC 6750 section 2.1, limited to the length that a secret may have. */
const BEARER = /^Bearer +([\x21-\x7e]{16,256})$/i

const INVALID_KEY = 'the API key is unknown, revoked or expired'
const NO_SESSION = 'the session has ended: sign in again'

/** The refusal of credentials that became invalid after the request was authenticated. */
export function noLongerValid({ session_id }: Pick<PresentedCredentials, 'session_id'>): Refusal {
  return new Refusal('unauthenticated', session_id === null ? INVALID_KEY : NO_SESSION)
}

/**
 * Finds the client that a request's API key or session belongs to. A request without valid credentials counts against its
 * address.
 */
export class Authenticator {
  readonly #cache: CredentialCache
  readonly #limiter: RateLimiter
  readonly #clients = new WeakMap<CredentialHolder, AuthenticatedClient>()

  constructor(cache: CredentialCache, limiter: RateLimiter) {
    this.#cache = cache
    this.#limiter = limiter
  }

  /** Throws what the database throws. */
  async identify(credentials: Credentials): Promise<AuthenticationResult> {
    const { authorization, address, session = null } = credentials
    if (authorization === undefined && session !== null) return this.#identifySession(session, address)
    const secret = keyIn(authorization)
    if (secret === undefined)
      return this.#refused(
        address,
        new Refusal('unauthenticated', 'the request has no API key: send "Authorization: Bearer <key>"'),
      )
    return this.#identified({ key: secret }, address, INVALID_KEY)
  }

  async #identifySession(session: SessionCredentials, address: string): Promise<AuthenticationResult> {
    const environment = environmentOf(session)
    if (environment === null) {
      const message = 'header Parley-Environment: must be production or sandbox'
      return this.#refused(address, invalidRequest([{ path: '', message }]))
    }
    if (!session.isFromOwnPage)
      return this.#refused(
        address,
        new Refusal('forbidden', 'a session changes something from pages of this server only: the Origin is another'),
      )
    return this.#identified({ session: session.token, environment }, address, NO_SESSION)
  }

  async #identified(secret: PresentedSecret, address: string, unknown: string): Promise<AuthenticationResult> {
    const holder = await this.#cache.holderOf(secret, () => this.#limiter.hasAddressTokens(address))
    // The secret was not looked up and may be valid, so the refusal says nothing about it.
    if (holder === 'withheld') return { client: null, ...this.#limiter.refuseAddress(address) }
    if (holder === null) return this.#refused(address, new Refusal('unauthenticated', unknown))
    const client = this.#clientOf(holder)
    if (client !== null) return { client, refusal: null, rateLimit: null }
    const message = 'the organisation has no sandbox environment: create it with POST /environments/sandbox'
    return this.#refused(address, new Refusal('not_found', message))
  }

  /** Whether the credentials belong to a client now. Counts against no rate limit. Throws what the database throws. */
  async hasAccess({ authorization, session = null }: Omit<Credentials, 'address'>): Promise<boolean> {
    const secret = secretOf(authorization, session)
    return secret !== null && (await this.#cache.holderOf(secret, () => true)) !== null
  }

  #refused(address: string, refusal: Refusal): AuthenticationResult {
    const taken = this.#limiter.takeAddress(address)
    return { client: null, refusal: taken.refusal ?? refusal, rateLimit: taken.rateLimit }
  }

  #clientOf(holder: CredentialHolder): AuthenticatedClient | null {
    const known = this.#clients.get(holder)
    if (known !== undefined) return known
    const made = 'session_id' in holder ? clientOfSession(holder) : clientOfKey(holder)
    if (made !== null) this.#clients.set(holder, made)
    return made
  }
}

function clientOfKey(holder: KeyHolder): AuthenticatedClient {
  const { owner_id, environment } = holder.scope
  return {
    holder,
    presented: { key: holder, user_id: null, session_id: null },
    principal: {
      ref: { owner_id, environment, kind: 'api_key', id: holder.key_id },
      role: holder.role,
      canDial: holder.role === 'admin' || holder.can_dial,
      scope: holder.scope,
      rate: holder.rate,
    },
    name: `api_key/${holder.key_id}`,
  }
}

/** Null: the organisation does not have the environment that the request names. */
function clientOfSession(holder: SessionHolder): AuthenticatedClient | null {
  const { scope, role, rate, session_id, key, user_id } = holder
  if (scope === null) return null
  const { owner_id, environment } = scope
  const isOfKey = user_id === null
  const id = isOfKey ? holder.key.key_id : user_id
  const kind = isOfKey ? 'api_key' : 'user'
  return {
    holder,
    presented: { key, user_id, session_id },
    principal: {
      ref: { owner_id, environment, kind, id },
      role,
      canDial: role === 'admin' || holder.can_dial,
      scope,
      rate,
    },
    name: `${kind}/${id}`,
  }
}

function environmentOf({ environment = 'production' }: SessionCredentials): 'production' | 'sandbox' | null {
  return environment === 'production' || environment === 'sandbox' ? environment : null
}

/** The secret that a request presents; null: it presents none. */
function secretOf(authorization: string | undefined, session: SessionCredentials | null): PresentedSecret | null {
  if (authorization === undefined && session !== null) {
    const environment = environmentOf(session)
    return environment === null ? null : { session: session.token, environment }
  }
  const key = keyIn(authorization)
  return key === undefined ? null : { key }
}

function keyIn(authorization: string | undefined): string | undefined {
  return authorization === undefined ? undefined : BEARER.exec(authorization)?.[1]
}
