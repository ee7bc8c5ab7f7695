import { Refusal } from '@parley/contract'
import type { KeyHolder } from '@parley/store'
import type { Principal } from '../context.ts'
import type { KeyHolders } from './key-holders.ts'
import type { RateLimiter, RateStanding } from './rate-limits.ts'

/** What a request shows of its sender. */
export interface Credentials {
  /** The header Authorization; undefined: none came. */
  readonly authorization: string | undefined
  /** IP address of the sender. */
  readonly address: string
}

/** A sender that holds a valid key. */
export interface Caller {
  readonly keyId: string
  readonly principal: Principal
  /** As in the records of its requests: `api_key/<id>`. */
  readonly name: string
}

/** Who asks, or why nobody is asked for: `standing` is how the limit stands that was counted, null where none was. */
export type Identified =
  | { readonly caller: Caller; readonly refusal: null; readonly standing: null }
  | { readonly caller: null; readonly refusal: Refusal; readonly standing: RateStanding }

/** RFC 6750 section 2.1, and no more characters than a secret may have. */
const BEARER = /^Bearer +([\x21-\x7e]{16,256})$/i

/** Finds out whose key a request brings. Requests without a valid one count against their address. */
export class Callers {
  readonly #holders: KeyHolders
  readonly #limiter: RateLimiter
  readonly #made = new WeakMap<KeyHolder, Caller>()

  constructor(holders: KeyHolders, limiter: RateLimiter) {
    this.#holders = holders
    this.#limiter = limiter
  }

  /** Throws what the database throws. */
  async identify({ authorization, address }: Credentials): Promise<Identified> {
    const secret = authorization === undefined ? undefined : BEARER.exec(authorization)?.[1]
    if (secret === undefined) return this.#stranger(address, 'give an API key as "Authorization: Bearer <key>"')
    const holder = await this.#holders.holderOf(secret, () => this.#limiter.mayTry(address))
    // It may be valid: nothing is said about it.
    if (holder === 'withheld') return { caller: null, ...this.#limiter.refuseAddress(address) }
    if (holder === null) return this.#stranger(address, 'the API key is unknown, revoked or expired')
    return { caller: this.#callerOf(holder), refusal: null, standing: null }
  }

  #stranger(address: string, message: string): Identified {
    const { standing, refusal } = this.#limiter.takeAddress(address)
    return { caller: null, refusal: refusal ?? new Refusal('unauthenticated', message), standing }
  }

  #callerOf(holder: KeyHolder): Caller {
    const known = this.#made.get(holder)
    if (known !== undefined) return known
    const { owner_id, environment } = holder.scope
    const principal: Principal = {
      ref: { owner_id, environment, kind: 'api_key', id: holder.key_id },
      role: holder.role,
      canDial: holder.role === 'admin' || holder.can_dial,
      scope: holder.scope,
      rate: holder.rate,
    }
    const made = { keyId: holder.key_id, principal, name: `api_key/${holder.key_id}` }
    this.#made.set(holder, made)
    return made
  }
}
