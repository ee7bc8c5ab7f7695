import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { type Random, randomToken, type Time } from '@parley/kernel'
import {
  type AuthValue,
  createResponse,
  HeaderList,
  parseCredentials,
  parseUri,
  type SipRequest,
  type SipResponse,
  serialiseAuthValue,
  uriEquals,
} from '@parley/sip'
import { z } from 'zod'

export const digestAccount = z.strictObject({
  realm: z.string().min(1).max(128),
  username: z.string().min(1).max(128),
  password: z.string().min(1).max(256),
  /** Status of the challenge: 401 as of a user agent, 407 as of a proxy; default 407. */
  status: z.union([z.literal(401), z.literal(407)]).default(407),
  /** Default MD5, which carriers use. */
  algorithm: z.enum(['MD5', 'SHA-256']).default('MD5'),
  /** Lifetime of a nonce; default 30 s. */
  nonceLifetimeMs: z.number().min(0).max(3_600_000).default(30_000),
  /** Credentials have to be made for the Request-URI (RFC 7616 section 3.4.6), default; SIPp makes them for the host alone. */
  matchUri: z.boolean().default(true),
  /** Whether the first correct credentials of every call are answered with stale=true and another nonce. */
  staleFirst: z.boolean().default(false),
})

export type DigestAccount = z.output<typeof digestAccount>

export type GateOutcome =
  | { readonly proven: true }
  /** The challenge to send, and why: "missing", "wrong", "stale". */
  | { readonly proven: false; readonly response: SipResponse; readonly why: 'missing' | 'wrong' | 'stale' }

/** Nonces and calls remembered against replay and for `staleFirst`. */
const REMEMBERED = 50_000

/**
 * The carrier's own digest check (RFC 3261 section 22, RFC 7616, qop=auth): independent of the one in the user agent
 * that it tests. Nonces are self-contained; a request without valid credentials leaves no state.
 */
export class DigestGate {
  readonly #account: DigestAccount
  readonly #time: Time
  readonly #random: Random
  readonly #secret: string
  /** Used nonces with their counts. The caller does not check retransmissions again. */
  readonly #used = new Set<string>()
  readonly #madeStale = new Set<string>()

  constructor(account: DigestAccount, time: Time, random: Random) {
    this.#account = account
    this.#time = time
    this.#random = random
    this.#secret = randomToken(random, 32)
  }

  check(request: SipRequest): GateOutcome {
    const header = this.#account.status === 407 ? 'Proxy-Authorization' : 'Authorization'
    const lines = request.headers.all(header)
    const mine = lines.map(parseCredentials).find(value => value?.params.get('realm') === this.#account.realm)
    if (mine === undefined) return this.#challenge(request, lines.length === 0 ? 'missing' : 'wrong')
    if (!this.#isRight(mine, request)) return this.#challenge(request, 'wrong')
    return this.#isFresh(mine, request) ? { proven: true } : this.#challenge(request, 'stale')
  }

  #isRight(value: AuthValue, request: SipRequest): boolean {
    const param = (name: string) => value.params.get(name) ?? ''
    const { username, password, realm, algorithm, matchUri } = this.#account
    const named = parseUri(param('uri'))
    if (value.scheme.toLowerCase() !== 'digest' || param('username') !== username || param('qop') !== 'auth')
      return false
    if ((param('algorithm') || 'MD5').toUpperCase() !== algorithm) return false
    if (!/^[0-9a-f]{8}$/i.test(param('nc')) || param('cnonce') === '') return false
    if (named === undefined || (matchUri && !uriEquals(named, request.uri))) return false
    const hash = (text: string) =>
      createHash(algorithm === 'MD5' ? 'md5' : 'sha256')
        .update(text)
        .digest('hex')
    const expected = hash(
      [
        hash(`${username}:${realm}:${password}`),
        param('nonce'),
        param('nc'),
        param('cnonce'),
        'auth',
        hash(`${request.method}:${param('uri')}`),
      ].join(':'),
    )
    return sameText(expected, param('response').toLowerCase())
  }

  #isFresh(value: AuthValue, request: SipRequest): boolean {
    const nonce = value.params.get('nonce') ?? ''
    const [at = '', salt = '', proof = ''] = nonce.split('.')
    if (!sameText(this.#proof(at, salt), proof)) return false
    const age = this.#time.now() - Number.parseInt(at, 36)
    if (!(age <= this.#account.nonceLifetimeMs)) return false
    const use = `${nonce}/${value.params.get('nc')}`
    if (this.#used.has(use)) return false
    if (this.#account.staleFirst && !this.#madeStale.has(request.callId)) {
      remember(this.#madeStale, request.callId)
      return false
    }
    remember(this.#used, use)
    return true
  }

  #challenge(request: SipRequest, why: 'missing' | 'wrong' | 'stale'): GateOutcome {
    const { realm, algorithm, status } = this.#account
    const at = Math.floor(this.#time.now()).toString(36)
    const salt = randomToken(this.#random, 8)
    const params = new Map<string, string>([
      ['realm', realm],
      ['nonce', `${at}.${salt}.${this.#proof(at, salt)}`],
      ['qop', 'auth'],
      ['algorithm', algorithm],
      ...(why === 'stale' ? [['stale', 'true'] as const] : []),
    ])
    const value = serialiseAuthValue({ scheme: 'Digest', params }, new Set(['algorithm', 'stale']))
    const name = status === 407 ? 'Proxy-Authenticate' : 'WWW-Authenticate'
    // The same request gets the same tag (RFC 3261 section 8.2.7): it is computed, not stored.
    const toTag = this.#proof(request.callId, request.via[0]?.params.get('branch') ?? '')
    return {
      proven: false,
      why,
      response: createResponse(request, status, { toTag, headers: new HeaderList([[name, value]]) }),
    }
  }

  #proof(...parts: readonly string[]): string {
    return createHmac('sha256', this.#secret).update(parts.join('\n')).digest('hex').slice(0, 24)
  }
}

function sameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}

/** Adds to a set in order of age, which drops its oldest entry when it is full. */
function remember(entries: Set<string>, value: string): void {
  if (entries.size >= REMEMBERED) for (const oldest of entries) if (entries.delete(oldest)) break
  entries.add(value)
}
