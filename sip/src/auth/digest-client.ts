import { type Random, randomToken } from '@parley/kernel'
import { type AuthValue, parseChallenges, serialiseAuthValue } from '../message/auth-value.ts'
import type { SipResponse } from '../message/message.ts'
import { splitList } from '../message/split-list.ts'
import { ALGORITHMS, algorithmNamed, type DigestAlgorithm, digestResponse, nonceCountText } from './digest.ts'

/** Parameters that are written without quotes (RFC 7616 section 3.4). */
const BARE: ReadonlySet<string> = new Set(['algorithm', 'qop', 'nc'])

/** Nonces whose count is remembered; beyond that the count of the oldest starts at 1 again. */
const MAX_NONCES = 64

/** Answers challenges for one user (RFC 3261 section 22, RFC 7616, RFC 8760). */
export class DigestClient {
  readonly #credentials: { readonly username: string; readonly password: string }
  readonly #random: Random
  readonly #counts = new Map<string, number>()

  constructor(credentials: { readonly username: string; readonly password: string }, random: Random) {
    this.#credentials = credentials
    this.#random = random
  }

  /**
   * The headers that answer the challenges of a 401 or 407: per realm the strongest supported algorithm.
   * Undefined when there is none, or when `answered`, which collects the nonces that this request has answered, shows
   * that the answer was tried and refused: a server that means another try sends another nonce with stale=true.
   */
  answer(
    response: SipResponse,
    request: { readonly method: string; readonly uri: string },
    answered: Set<string>,
  ): readonly (readonly [name: string, value: string])[] | undefined {
    const proxy = response.status === 407
    const lines = response.headers.all(proxy ? 'Proxy-Authenticate' : 'WWW-Authenticate')
    const chosen = strongestPerRealm(lines.flatMap(line => parseChallenges(line)))
    const headers: (readonly [string, string])[] = []
    for (const { value, algorithm } of chosen) {
      const nonce = value.params.get('nonce') ?? ''
      // 22.1, 22.2: the credentials for this realm were refused, and not because the nonce was stale.
      const stale = value.params.get('stale')?.toLowerCase() === 'true'
      const realm = `realm ${value.params.get('realm') ?? ''}`
      if (answered.has(nonce) || (answered.has(realm) && !stale)) return undefined
      answered.add(nonce)
      answered.add(realm)
      const written = serialiseAuthValue(this.#credentialsFor(value, algorithm, nonce, request), BARE)
      headers.push([proxy ? 'Proxy-Authorization' : 'Authorization', written])
    }
    return headers.length === 0 ? undefined : headers
  }

  #credentialsFor(
    challenge: AuthValue,
    algorithm: DigestAlgorithm,
    nonce: string,
    request: { readonly method: string; readonly uri: string },
  ): AuthValue {
    const { username, password } = this.#credentials
    const realm = challenge.params.get('realm') ?? ''
    const offered = challenge.params.get('qop')
    const qop =
      offered == null ? undefined : { nonceCount: this.#count(nonce), clientNonce: randomToken(this.#random, 16) }
    const response = digestResponse({ algorithm, username, realm, password, nonce, ...request, qop })
    const params = new Map<string, string | null>([
      ['username', username],
      ['realm', realm],
      ['nonce', nonce],
      ['uri', request.uri],
      ['response', response],
    ])
    if (challenge.params.has('algorithm')) params.set('algorithm', algorithm)
    if (qop !== undefined) {
      params.set('cnonce', qop.clientNonce)
      params.set('qop', 'auth')
      params.set('nc', qop.nonceCount)
    }
    const opaque = challenge.params.get('opaque')
    if (opaque != null) params.set('opaque', opaque)
    return { scheme: 'Digest', params }
  }

  #count(nonce: string): string {
    const count = (this.#counts.get(nonce) ?? 0) + 1
    if (!this.#counts.has(nonce) && this.#counts.size >= MAX_NONCES) {
      this.#counts.delete(this.#counts.keys().next().value ?? '')
    }
    this.#counts.set(nonce, count)
    return nonceCountText(count)
  }
}

/** RFC 8760 section 2.4: of several challenges of one realm only one is answered. */
function strongestPerRealm(
  challenges: readonly AuthValue[],
): readonly { readonly value: AuthValue; readonly algorithm: DigestAlgorithm }[] {
  const best = new Map<string, { readonly value: AuthValue; readonly algorithm: DigestAlgorithm }>()
  for (const value of challenges) {
    const algorithm = algorithmNamed(value.params.get('algorithm'))
    if (value.scheme.toLowerCase() !== 'digest' || algorithm === undefined || !speaksOurQop(value)) continue
    const realm = value.params.get('realm') ?? ''
    const known = best.get(realm)
    if (known === undefined || ALGORITHMS.indexOf(algorithm) < ALGORITHMS.indexOf(known.algorithm)) {
      best.set(realm, { value, algorithm })
    }
  }
  return [...best.values()]
}

/** Without qop, or with "auth" among the offers; auth-int alone cannot be answered. */
function speaksOurQop(challenge: AuthValue): boolean {
  const offered = challenge.params.get('qop')
  return offered == null || splitList(offered).some(option => option.toLowerCase() === 'auth')
}
