import type { Ms, Random, Time } from '@parley/kernel'
import { parseCredentials, serialiseAuthValue } from '../message/auth-value.ts'
import type { SipRequest } from '../message/message.ts'
import { parseUri, uriEquals } from '../message/uri.ts'
import { ALGORITHMS, algorithmNamed, digestResponse } from './digest.ts'
import { equalInConstantTime } from './keyed-hash.ts'
import { NonceStore } from './nonce-store.ts'

export type DigestOutcome =
  | { readonly proven: true; readonly username: string }
  /** For a 401: WWW-Authenticate, one line per algorithm, strongest first (RFC 8760 section 2.3). */
  | { readonly proven: false; readonly challenges: readonly (readonly [name: string, value: string])[] }

/** Challenges requests and verifies their credentials (RFC 3261 section 22.4, RFC 7616, RFC 8760); it keeps no state before a password is proven. */
export class DigestServer {
  readonly #nonces: NonceStore

  /** `lifetimeMs`: how long a nonce may be used, default 60 s; `capacity`: nonces remembered against replay, default 10000. */
  constructor(time: Time, random: Random, options: { readonly lifetimeMs?: Ms; readonly capacity?: number } = {}) {
    this.#nonces = new NonceStore(time, random, {
      lifetimeMs: options.lifetimeMs ?? 60_000,
      capacity: options.capacity ?? 10_000,
    })
  }

  verify(request: SipRequest, realm: string, passwordOf: (username: string) => string | undefined): DigestOutcome {
    let stale = false
    for (const line of request.headers.all('Authorization')) {
      const outcome = this.#check(line, request, realm, passwordOf)
      if (outcome.type === 'proven') return { proven: true, username: outcome.username }
      if (outcome.type === 'stale') stale = true
    }
    return { proven: false, challenges: this.#challenges(realm, stale) }
  }

  #check(
    line: string,
    request: SipRequest,
    realm: string,
    passwordOf: (username: string) => string | undefined,
  ): { readonly type: 'proven'; readonly username: string } | { readonly type: 'stale' | 'refused' } {
    const refused = { type: 'refused' } as const
    const value = parseCredentials(line)
    const param = (name: string) => value?.params.get(name) ?? undefined
    const [username, nonce, uri, response] = [param('username'), param('nonce'), param('uri'), param('response')]
    const algorithm = algorithmNamed(param('algorithm'))
    if (value?.scheme.toLowerCase() !== 'digest' || param('realm') !== realm || algorithm === undefined) return refused
    if (username === undefined || nonce === undefined || uri === undefined || response === undefined) return refused
    const age = this.#nonces.judge(nonce, realm)
    if (age === 'foreign') return refused
    const use = nonceUse(param('qop'), param('nc'), param('cnonce'))
    // RFC 7616 section 3.4.6: credentials for another resource are refused.
    if (use === undefined || !sameResource(uri, request)) return refused
    const password = passwordOf(username)
    const expected = digestResponse({
      algorithm,
      username,
      realm,
      // An unknown user takes the same time as a wrong password.
      password: password ?? '',
      nonce,
      method: request.method,
      uri,
      qop: use.qop,
    })
    if (!equalInConstantTime(expected, response.toLowerCase()) || password === undefined) return refused
    // 22.4 of RFC 3261, 3.3 of RFC 7616: stale=true is sent only to a client that knows the password.
    if (age === 'stale' || !this.#nonces.use(nonce, use.count)) return { type: 'stale' }
    return { type: 'proven', username }
  }

  #challenges(realm: string, stale: boolean): readonly (readonly [name: string, value: string])[] {
    const nonce = this.#nonces.issue(realm)
    return ALGORITHMS.map(algorithm => {
      const params = new Map<string, string>([
        ['realm', realm],
        ['nonce', nonce],
        ['qop', 'auth'],
        ['algorithm', algorithm],
      ])
      if (stale) params.set('stale', 'true')
      const value = serialiseAuthValue({ scheme: 'Digest', params }, new Set(['algorithm', 'stale']))
      return ['WWW-Authenticate', value] as const
    })
  }
}

/** Without qop (RFC 2069) there is no count: such a nonce is good for one request. */
function nonceUse(qop: string | undefined, nc: string | undefined, cnonce: string | undefined) {
  if (qop === undefined) return { qop: undefined, count: Number.MAX_SAFE_INTEGER }
  if (qop.toLowerCase() !== 'auth' || cnonce === undefined || nc === undefined) return undefined
  if (!/^[0-9a-fA-F]{8}$/.test(nc)) return undefined
  return { qop: { nonceCount: nc, clientNonce: cnonce }, count: Number.parseInt(nc, 16) }
}

function sameResource(uri: string, request: SipRequest): boolean {
  const parsed = parseUri(uri)
  return parsed !== undefined && uriEquals(parsed, request.uri)
}
