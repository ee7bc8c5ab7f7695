import type { SipRequest, SipResponse } from '../message/message.ts'
import { serialiseUri } from '../message/uri.ts'
import type { ClientTransaction } from '../transaction/client-transaction.ts'
import { type Destination, transportOf } from '../transaction/message-sender.ts'
import type { Flow } from '../transport/transport.ts'
import type { CallIdentity } from './call-identity.ts'
import type { HeaderPairs } from './session.ts'
import type { UaContext } from './ua-context.ts'

/** More challenges than that are somebody's game. */
const MOST_CHALLENGES = 4

/** What one request carries to prove who we are, after the challenges that it met (RFC 3261 section 22). */
export class RequestCredentials {
  readonly #ctx: UaContext
  readonly #identity: CallIdentity
  readonly #answeredNonces = new Set<string>()
  #headers: HeaderPairs = []
  #challenges = 0

  constructor(ctx: UaContext, identity: CallIdentity) {
    this.#ctx = ctx
    this.#identity = identity
  }

  get headers(): HeaderPairs {
    return this.#headers
  }

  /** True: `headers` now answers the 401 or 407, and the request may go to the same place again. */
  answer(
    response: SipResponse,
    sent: { readonly request: SipRequest; readonly to: Destination; readonly in: ClientTransaction | undefined },
    flow: Flow,
  ): boolean {
    const { digest } = this.#identity
    if (digest === undefined || this.#challenges >= MOST_CHALLENGES) return false
    // A challenge that comes from anywhere but the call's own next hop could harvest credentials.
    if (!this.#identity.owns(flow) || !cameFrom(flow, sent.to, sent.in)) {
      this.#ctx.log('warn', 'rogue_challenge', `${response.status} from ${flow.remote.address} is not answered`)
      return false
    }
    const { method, uri } = sent.request
    const answers = digest.answer(response, { method, uri: serialiseUri(uri) }, this.#answeredNonces)
    if (answers === undefined) return false
    this.#challenges++
    // Kept from earlier challenges: what another realm asked for on the same way (RFC 3261 section 22.3).
    const kept = this.#headers.filter(([name]) => !answers.some(answer => answer[0] === name))
    this.#headers = [...kept, ...answers]
    return true
  }
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
