import { hash, timingSafeEqual } from 'node:crypto'
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
  readonly #routes: readonly { readonly route: InboundRoute; readonly digest: Buffer }[]

  constructor(routes: readonly TokenRoute[]) {
    this.#routes = routes.map(({ token, decide, takeRateSlot }) => ({
      digest: digestOf(token),
      route: {
        serverName: null,
        receive: async invite => decide(invite),
        refused: () => {},
        ...(takeRateSlot && { takeRateSlot }),
      },
    }))
  }

  find(request: SipRequest): InboundRoute | null {
    for (const candidate of tokensOf(request)) {
      const digest = digestOf(candidate)
      const found = this.#routes.find(known => timingSafeEqual(digest, known.digest))
      if (found !== undefined) return found.route
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

/** Tokens are compared by digest, so that the time of a comparison does not reveal how much of a guess is right. */
function digestOf(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}
