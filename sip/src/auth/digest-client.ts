import { type Random, randomToken } from '@parley/kernel'
import { type AuthValue, parseChallenges, serialiseAuthValue } from '../message/auth-value.ts'
import type { SipResponse } from '../message/message.ts'
import { splitList } from '../message/split-list.ts'
import { ALGORITHMS, algorithmNamed, type DigestAlgorithm, digestResponse, nonceCountText } from './digest.ts'

/** Parameters that are written without quotes (RFC 7616 section 3.4). */
const BARE: ReadonlySet<string> = new Set(['algorithm', 'qop', 'nc'])

/** Nonces whose count is remembered; beyond that the count of the oldest starts at 1 again. */
const MAX_NONCES = 64

/** Realms whose last challenge is remembered. */
const MAX_REALMS = 8

type AuthorizationHeader = readonly [name: 'Authorization' | 'Proxy-Authorization', value: string]

interface DigestRequest {
  readonly method: string
  readonly uri: string
}

/** Answers challenges for one user (RFC 3261 section 22, RFC 7616, RFC 8760). */
export class DigestClient {
  readonly #credentials: { readonly username: string; readonly password: string }
  readonly #random: Random
  readonly #counts = new Map<string, number>()
  /** By header and realm: the challenge that was answered last, if its nonce may be used again. */
  readonly #answered = new Map<string, { readonly value: AuthValue; readonly algorithm: DigestAlgorithm }>()
  /** Keys of realms that refused the second use of a nonce. */
  readonly #singleUse = new Set<string>()

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
    request: DigestRequest,
    answered: Set<string>,
  ): readonly AuthorizationHeader[] | undefined {
    const proxy = response.status === 407
    const header = proxy ? 'Proxy-Authorization' : 'Authorization'
    const lines = response.headers.all(proxy ? 'Proxy-Authenticate' : 'WWW-Authenticate')
    const chosen = strongestPerRealm(lines.flatMap(line => parseChallenges(line)))
    const headers: AuthorizationHeader[] = []
    for (const { value, algorithm } of chosen) {
      const nonce = value.params.get('nonce') ?? ''
      // 22.1, 22.2: the credentials for this realm were refused, and not because the nonce was stale.
      const stale = value.params.get('stale')?.toLowerCase() === 'true'
      const realm = `realm ${value.params.get('realm') ?? ''}`
      if (answered.has(nonce) || (answered.has(realm) && !stale)) return undefined
      answered.add(nonce)
      answered.add(realm)
      const key = `${header} ${realm}`
      if (answered.has(`preemptive ${key}`) && !stale) this.#singleUse.add(key)
      this.#remember(key, value, algorithm)
      headers.push([header, serialiseAuthValue(this.#credentialsFor(value, algorithm, request), BARE)])
    }
    return headers.length === 0 ? undefined : headers
  }

  /**
   * Credentials for a request that has not been challenged: those of the realms that were answered before, with the same
   * nonce and its next count (RFC 7616 section 3.6). Only for challenges with qop, and until a realm refuses the second use
   * of a nonce. `answered` is that of `answer`, for the same request.
   */
  preemptive(request: DigestRequest, answered: Set<string>): readonly AuthorizationHeader[] {
    const headers: AuthorizationHeader[] = []
    for (const [key, { value, algorithm }] of this.#answered) {
      answered.add(`preemptive ${key}`)
      const header = key.startsWith('Proxy-') ? 'Proxy-Authorization' : 'Authorization'
      headers.push([header, serialiseAuthValue(this.#credentialsFor(value, algorithm, request), BARE)])
    }
    return headers
  }

  #remember(key: string, value: AuthValue, algorithm: DigestAlgorithm): void {
    this.#answered.delete(key)
    // Without a count, a nonce that is used again is a replay.
    if (value.params.get('qop') == null || this.#singleUse.has(key)) return
    this.#answered.set(key, { value, algorithm })
    if (this.#answered.size > MAX_REALMS) this.#answered.delete(this.#answered.keys().next().value ?? '')
  }

  #credentialsFor(challenge: AuthValue, algorithm: DigestAlgorithm, request: DigestRequest): AuthValue {
    const { username, password } = this.#credentials
    const nonce = challenge.params.get('nonce') ?? ''
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
