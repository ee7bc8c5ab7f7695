import { createHash, timingSafeEqual } from 'node:crypto'
import type { LegSecurity, SipRequest, SipUri } from '@parley/leg'
import { calledNumber, e164Digits } from './called-number.ts'
import type { VoiceAgent } from './voice/voice-agent.ts'

/** A trunk's way in: whoever knows the token reaches the agent. */
export interface StaticRoute {
  /** For logs. */
  readonly name: string
  /** Unguessable; Request-URI user, URI parameter `token`, or the first label of its host. */
  readonly token: string
  /** When set, the source must be one of these as well. */
  readonly sourceAddresses?: readonly string[]
  readonly security: LegSecurity
  /** When set, only these E.164 numbers are reached by it; any other called number is answered 404. */
  readonly numbers?: readonly string[]
  /** Who talks to those who come in this way; default the line test. */
  readonly agent?: VoiceAgent
}

/** Whether the number that was called is one of the route's. */
export function reaches(route: StaticRoute, invite: SipRequest): boolean {
  if (route.numbers === undefined) return true
  const called = calledNumber(invite)
  return called !== null && route.numbers.some(number => e164Digits(number) === called)
}

/** The inbound routes of an engine, found by token. An unknown caller finds nothing, and learns nothing. */
export class RouteTable {
  readonly #routes: readonly { readonly route: StaticRoute; readonly digest: Buffer }[]

  constructor(routes: readonly StaticRoute[]) {
    this.#routes = routes.map(route => ({ route, digest: digestOf(route.token) }))
  }

  find(request: SipRequest, sourceAddress: string): StaticRoute | null {
    if (request.uri.scheme !== 'sip' && request.uri.scheme !== 'sips') return null
    for (const candidate of tokensOf(request.uri as SipUri)) {
      const digest = digestOf(candidate)
      for (const entry of this.#routes) {
        if (!timingSafeEqual(digest, entry.digest)) continue
        const sources = entry.route.sourceAddresses
        return sources === undefined || sources.includes(sourceAddress) ? entry.route : null
      }
    }
    return null
  }

  /** Whether some trunk lists the address: it is no stranger, though without a token it reaches nobody. */
  lists(sourceAddress: string): boolean {
    return this.#routes.some(entry => entry.route.sourceAddresses?.includes(sourceAddress))
  }
}

/** Where a token may stand. */
export function tokensOf(uri: SipUri): string[] {
  const tokens = [uri.user, uri.params.get('token'), uri.host.split('.')[0]]
  return tokens.filter((token): token is string => typeof token === 'string' && token !== '')
}

/** Compared as digests: the time it takes says nothing about how much of a guess was right. */
function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
