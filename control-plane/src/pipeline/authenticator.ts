import { Refusal } from '@parley/contract'
import type { KeyHolder } from '@parley/store'
import type { Principal } from '../context.ts'
import type { ApiKeyCache } from './api-key-cache.ts'
import type { RateLimiter, RateLimitStatus } from './rate-limits.ts'

/** The credentials and the address of a request. */
export interface Credentials {
  /** The Authorization header; undefined: absent. */
  readonly authorization: string | undefined
  /** IP address of the client. */
  readonly address: string
}

/** A client with a valid API key. */
export interface AuthenticatedClient {
  readonly holder: KeyHolder
  readonly principal: Principal
  /** The owner of its idempotency records: `api_key/<id>`. */
  readonly name: string
}

/** The client, or the refusal with the state of the rate limit that the request was counted against. */
type AuthenticationResult =
  | { readonly client: AuthenticatedClient; readonly refusal: null; readonly rateLimit: null }
  | { readonly client: null; readonly refusal: Refusal; readonly rateLimit: RateLimitStatus }

/** RFC 6750 section 2.1, limited to the length that a secret may have. */
const BEARER = /^Bearer +([\x21-\x7e]{16,256})$/i

const INVALID_KEY = 'the API key is unknown, revoked or expired'

/** The refusal of a key that was revoked or lost its secret after the request was authenticated. */
export function keyNoLongerValid(): Refusal {
  return new Refusal('unauthenticated', INVALID_KEY)
}

/** Finds the client that a request's API key belongs to. A request without a valid key counts against its address. */
export class Authenticator {
  readonly #keyCache: ApiKeyCache
  readonly #limiter: RateLimiter
  readonly #clients = new WeakMap<KeyHolder, AuthenticatedClient>()

  constructor(keyCache: ApiKeyCache, limiter: RateLimiter) {
    this.#keyCache = keyCache
    this.#limiter = limiter
  }

  /** Throws what the database throws. */
  async identify({ authorization, address }: Credentials): Promise<AuthenticationResult> {
    const secret = secretIn(authorization)
    if (secret === undefined)
      return this.#unauthenticated(address, 'the request has no API key: send "Authorization: Bearer <key>"')
    const holder = await this.#keyCache.holderOf(secret, () => this.#limiter.hasAddressTokens(address))
    // The key was not looked up and may be valid, so the refusal says nothing about it.
    if (holder === 'withheld') return { client: null, ...this.#limiter.refuseAddress(address) }
    if (holder === null) return this.#unauthenticated(address, INVALID_KEY)
    return { client: this.#clientOf(holder), refusal: null, rateLimit: null }
  }

  /** Whether the credentials belong to a client now. Counts against no rate limit. Throws what the database throws. */
  async hasAccess({ authorization }: Pick<Credentials, 'authorization'>): Promise<boolean> {
    const secret = secretIn(authorization)
    return secret !== undefined && (await this.#keyCache.holderOf(secret, () => true)) !== null
  }

  #unauthenticated(address: string, message: string): AuthenticationResult {
    const { rateLimit, refusal } = this.#limiter.takeAddress(address)
    return { client: null, refusal: refusal ?? new Refusal('unauthenticated', message), rateLimit }
  }

  #clientOf(holder: KeyHolder): AuthenticatedClient {
    const known = this.#clients.get(holder)
    if (known !== undefined) return known
    const { owner_id, environment } = holder.scope
    const principal: Principal = {
      ref: { owner_id, environment, kind: 'api_key', id: holder.key_id },
      role: holder.role,
      canDial: holder.role === 'admin' || holder.can_dial,
      scope: holder.scope,
      rate: holder.rate,
    }
    const made = { holder, principal, name: `api_key/${holder.key_id}` }
    this.#clients.set(holder, made)
    return made
  }
}

function secretIn(authorization: string | undefined): string | undefined {
  return authorization === undefined ? undefined : BEARER.exec(authorization)?.[1]
}
