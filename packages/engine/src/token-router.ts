import { createHash, timingSafeEqual } from 'node:crypto'
import type { SipRequest, SipUri } from '@parley/leg'
import type { InboundDecision, InboundRoute, InboundRouter } from './inbound-router.ts'

/** An address of its own: a request whose Request-URI has the token reaches it. */
interface TokenRoute {
  /** Unguessable; Request-URI user, URI parameter `token`, or the first label of its host. */
  readonly token: string
  readonly decide: (invite: SipRequest) => InboundDecision
}

/** Routes that are not in the database, such as the line test's. Without a known token nothing is found. */
export class TokenRouter implements InboundRouter {
  readonly #routes: readonly { readonly route: InboundRoute; readonly digest: Buffer }[]

  constructor(routes: readonly TokenRoute[]) {
    this.#routes = routes.map(({ token, decide }) => ({
      digest: digestOf(token),
      route: {
        serverName: null,
        receive: async invite => decide(invite),
        refused: () => {},
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

/** What may be the token in a request: Request-URI user, URI parameter `token`, first label of the host, in this order. */
export function tokensOf({ uri }: SipRequest): string[] {
  if (uri.scheme !== 'sip' && uri.scheme !== 'sips') return []
  const { user, params, host } = uri as SipUri
  const tokens = [user, params.get('token'), host.split('.')[0]]
  return tokens.filter((token): token is string => typeof token === 'string' && token !== '')
}

/** Tokens are compared as digests: the time that takes says nothing about how much of a guess was right. */
function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
