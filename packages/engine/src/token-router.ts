import { hash } from 'node:crypto'
import type { SipRequest, SipUri } from '@parley/leg'
import type { InboundDecision, InboundRoute, InboundRouter } from './inbound-router.ts'

/** A route that a request reaches by a token in its Request-URI. */
interface TokenRoute {
  /** Unguessable; Request-URI user, URI parameter `token`, or the first label of its host. */
  readonly token: string
  readonly decide: (invite: SipRequest) => InboundDecision
  /** See `InboundRoute.takeRateSlot`. */
  readonly takeRateSlot?: () => boolean
}

/** Routes that are not in the database, such as that of the line test. A request without a known token has no route. */
export class TokenRouter implements InboundRouter {
  /** By the digest of the token. */
  readonly #routes: ReadonlyMap<string, InboundRoute>

  constructor(routes: readonly TokenRoute[]) {
    this.#routes = new Map(
      routes.map(({ token, decide, takeRateSlot }) => [
        digestOf(token),
        {
          serverName: null,
          receive: async invite => decide(invite),
          refused: () => {},
          ...(takeRateSlot && { takeRateSlot }),
        },
      ]),
    )
  }

  find(request: SipRequest): InboundRoute | null {
    for (const candidate of tokensOf(request)) {
      const found = this.#routes.get(digestOf(candidate))
      if (found !== undefined) return found
    }
    return null
  }

  lists(): boolean {
    return false
  }
}

/** Parts of the Request-URI that may be the token: user, URI parameter `token`, first label of the host, in this order. */
export function tokensOf({ uri }: SipRequest): string[] {
  if (uri.scheme !== 'sip' && uri.scheme !== 'sips') return []
  const { user, params, host } = uri as SipUri
  const tokens = [user, params.get('token'), host.split('.')[0]]
  return tokens.filter((token): token is string => typeof token === 'string' && token !== '')
}

/** Tokens are found by digest, so that the time of a search does not reveal how much of a guess is right. */
function digestOf(token: string): string {
  return hash('sha256', token, 'base64')
}
