import { parseChallenges } from '../message/auth-value.ts'
import { HeaderList } from '../message/header-list.ts'
import type { SipRequest, SipResponse, Uri } from '../message/message.ts'
import { serialiseUri } from '../message/uri.ts'
import type { ClientTransaction } from '../transaction/client-transaction.ts'
import { type Destination, transportOf } from '../transaction/message-sender.ts'
import type { Flow } from '../transport/transport.ts'
import type { CallIdentity } from './call-identity.ts'
import type { HeaderPairs } from './session.ts'
import type { UaContext } from './ua-context.ts'

/** Most challenges that one request answers; more indicate an attack. */
const MAX_CHALLENGES = 4

/** Authorization headers of one request: before and after the challenges that it received (RFC 3261 section 22). */
export class RequestCredentials {
  readonly #ctx: UaContext
  readonly #identity: CallIdentity
  readonly #learnsRealms: boolean
  readonly #answeredNonces = new Set<string>()
  /** Answers to the challenges of this request. */
  #answers: HeaderPairs = []
  #sent: HeaderPairs = []
  #challenges = 0

  /** `learnsRealms`: this is the call's first request, whose challenges show the realms of the trunk. */
  constructor(ctx: UaContext, identity: CallIdentity, learnsRealms: boolean) {
    this.#ctx = ctx
    this.#identity = identity
    this.#learnsRealms = learnsRealms
  }

  /** Headers of the last attempt. */
  get headers(): HeaderPairs {
    return this.#sent
  }

  /**
   * Headers for an attempt, none unless it goes to the call's next hop: the answers to this request's challenges; before one, the
   * credentials of the call's earlier requests with the next nonce count.
   */
  forAttempt(request: { readonly method: string; readonly uri: Uri }, to: Destination): HeaderPairs {
    const { digest } = this.#identity
    const isOwn = this.#identity.ownsDestination(to)
    // After its connection has closed, a request may go to another host than the one that was answered.
    this.#sent = isOwn ? this.#answers : []
    if (digest !== undefined && this.#answers.length === 0 && isOwn) {
      const { method, uri } = request
      this.#sent = digest.preemptive({ method, uri: serialiseUri(uri) }, this.#answeredNonces)
    }
    return this.#sent
  }

  /** True: `forAttempt` now answers the 401 or 407, and the request may go to the same place again. */
  answer(
    response: SipResponse,
    sent: { readonly request: SipRequest; readonly to: Destination; readonly in: ClientTransaction | undefined },
    flow: Flow,
  ): boolean {
    const { digest } = this.#identity
    if (digest === undefined || this.#challenges >= MAX_CHALLENGES) return false
    // A challenge from any host but the call's next hop could harvest credentials.
    if (!this.#identity.owns(flow) || !cameFrom(flow, sent.to, sent.in)) {
      this.#ctx.log('warn', 'rogue_challenge', `${response.status} from ${flow.remote.address} is not answered`)
      return false
    }
    const { method, uri } = sent.request
    const challenge = this.#acceptable(response)
    const answers = digest.answer(challenge, { method, uri: serialiseUri(uri) }, this.#answeredNonces)
    if (answers === undefined) return false
    this.#challenges++
    // Credentials for other realms on the same path are kept (RFC 3261 section 22.3).
    const others = this.#sent.filter(([name]) => !answers.some(answer => answer[0] === name))
    this.#answers = [...others, ...answers]
    return true
  }

  /** `response` without challenges for other realms than the trunk's: a far end behind it may ask for credentials of its own choice. */
  #acceptable(response: SipResponse): SipResponse {
    const name = response.status === 407 ? 'Proxy-Authenticate' : 'WWW-Authenticate'
    let headers = HeaderList.empty
    for (const line of response.headers.all(name)) {
      const realms = realmsOf(line)
      if (this.#learnsRealms) for (const realm of realms) this.#identity.learnRealm(realm)
      if (realms.every(realm => this.#identity.mayAuthenticateTo(realm))) headers = headers.with(name, line)
      else
        this.#ctx.log('warn', 'foreign_realm', `${response.status} for the realm ${realms.join(', ')} is not answered`)
    }
    return { ...response, headers }
  }
}

/** The realms of a WWW-Authenticate or Proxy-Authenticate line. */
function realmsOf(line: string): string[] {
  return parseChallenges(line).map(({ params }) => params.get('realm') ?? '')
}

function cameFrom(flow: Flow, destination: Destination, transaction: ClientTransaction | undefined): boolean {
  if (transaction?.flow?.id === flow.id) return true
  const sentTo = 'flow' in destination ? destination.flow.remote : destination.target
  return (
    flow.transport === transportOf(destination) &&
    flow.transport === 'udp' &&
    flow.remote.address === sentTo.address &&
    flow.remote.port === sentTo.port
  )
}
