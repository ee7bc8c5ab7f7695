import type { DigestServer } from '../auth/digest-server.ts'
import { dialogIdOf } from '../dialog/dialog.ts'
import { HeaderList } from '../message/header-list.ts'
import { inspectRequest } from '../message/inspect-request.ts'
import type { SipRequest } from '../message/message.ts'
import type { Refused, ResponseFields } from '../message/parse-result.ts'
import type { ServerTransaction } from '../transaction/server-transactions.ts'
import { markReceived } from '../transaction/top-via.ts'
import type { Flow } from '../transport/transport.ts'
import { EXTENSIONS, METHODS, SESSION_BODIES } from './capabilities.ts'
import { answerOptions } from './options.ts'
import type { GuardDecision, HeaderPairs, RequestGuard } from './session.ts'
import { leastInterval } from './session-timer.ts'
import { intervalTooSmall } from './session-timer-headers.ts'
import { respond, statelessTag, type UaContext } from './ua-context.ts'

interface AdmissionHooks {
  /** Seconds for the Retry-After of a 503 when no new call may come: drain, or the cap on sessions. */
  busy(): number | undefined
  /** Creates the transaction of an INVITE that the guard accepted; undefined if the limit of transactions is reached. */
  takeInvite(request: SipRequest, flow: Flow, accepted: AcceptedRequest): ServerTransaction | undefined
}

/** The guard's decision on an accepted request. */
export type AcceptedRequest = Omit<Extract<GuardDecision, { action: 'accept' }>, 'action'>

/**
 * Requests outside every dialog that we know (RFC 3261 section 8.2). The guard decides first; until a call is
 * accepted no state is kept: every refusal is stateless (section 8.2.7), and a dropped request gets no response.
 */
export class RequestAdmission {
  readonly #ctx: UaContext
  readonly #guard: RequestGuard
  readonly #digest: DigestServer
  readonly #retryAfterS: number
  readonly #hooks: AdmissionHooks

  constructor(
    ctx: UaContext,
    options: { guard: RequestGuard; digest: DigestServer; retryAfterS: number },
    hooks: AdmissionHooks,
  ) {
    this.#ctx = ctx
    this.#guard = options.guard
    this.#digest = options.digest
    this.#retryAfterS = options.retryAfterS
    this.#hooks = hooks
  }

  receive(request: SipRequest, flow: Flow): void {
    const accepted = this.#ask(request, flow)
    if (accepted === undefined) return
    // 12.2.2, 9.2: a dialog or an INVITE that we do not know.
    if (dialogIdOf(request) !== undefined || request.method === 'CANCEL') this.#refuse(request, flow, 481)
    else if (!this.#object(request, flow)) this.#serve(request, flow, accepted)
  }

  /** The guard's decision if it accepted; undefined if the request has been answered or dropped. */
  #ask(request: SipRequest, flow: Flow): AcceptedRequest | undefined {
    const decision = this.#guard(request, flow)
    switch (decision.action) {
      case 'accept':
        return decision
      case 'drop':
        return undefined
      case 'reject': {
        const { status, retryAfterS } = decision
        this.#refuse(request, flow, status, retryAfterS === undefined ? [] : [['Retry-After', String(retryAfterS)]])
        return undefined
      }
      case 'challenge': {
        // 22.1: ACK and CANCEL are never challenged.
        if (request.method === 'CANCEL') return undefined
        const outcome = this.#digest.verify(request, decision.realm, decision.passwordOf)
        if (outcome.proven) return {}
        this.#refuse(request, flow, 401, outcome.challenges)
        return undefined
      }
    }
  }

  /** Checks of 8.2.1 to 8.2.3 (405, 416, 420, 415): true if the request was refused. */
  #object(request: SipRequest, flow: Flow): boolean {
    const { servers } = this.#ctx.layer
    // Transfers are decided by our own policy, never by the far end.
    if (request.method === 'REFER') {
      this.#refuse(request, flow, 403)
      return true
    }
    const rejection = inspectRequest(request, { methods: METHODS, extensions: EXTENSIONS, mediaTypes: SESSION_BODIES })
    if (rejection !== undefined) {
      this.#refuse(request, flow, rejection.status, rejection.headers)
      return true
    }
    // RFC 4028 section 9.
    const tooSmall = intervalTooSmall(request.headers, leastInterval(this.#ctx.sessionTimer))
    if (request.method === 'INVITE' && tooSmall !== undefined) {
      this.#refuse(request, flow, 422, tooSmall)
      return true
    }
    // 8.2.2.2: merged request (loop or fork).
    if (servers.isMerged(request)) {
      this.#refuse(request, flow, 482)
      return true
    }
    return false
  }

  #serve(request: SipRequest, flow: Flow, accepted: AcceptedRequest): void {
    switch (request.method) {
      case 'OPTIONS':
        // 11.2: the answer is the one that an INVITE would get.
        if (this.#hooks.busy() === undefined) {
          this.#ctx.layer.servers.respondStatelessly(request, flow, answerOptions(this.#ctx, request))
        } else this.#refuseBusy(request, flow)
        return
      case 'INVITE':
        if (this.#hooks.busy() !== undefined || this.#hooks.takeInvite(request, flow, accepted) === undefined) {
          this.#refuseBusy(request, flow)
        }
        return
      default:
        // BYE and INFO live in dialogs only.
        this.#refuse(request, flow, 481)
        return
    }
  }

  #refuseBusy(request: SipRequest, flow: Flow): void {
    this.#refuse(request, flow, 503, [['Retry-After', String(this.#hooks.busy() ?? this.#retryAfterS)]])
  }

  #refuse(request: SipRequest, flow: Flow, status: number, extra: HeaderPairs = []): void {
    const response = respond(this.#ctx, request, status, { toTag: statelessTag(this.#ctx, request), extra })
    this.#ctx.layer.servers.respondStatelessly(request, flow, response)
  }

  /** Handles a message that cannot be processed: a response is sent only if a server would and the guard accepts the sender. */
  receiveRefused(refused: Refused, flow: Flow): void {
    if (refused.answer === null || refused.responseFields === null || refused.responseFields.method === 'ACK') return
    const request = markReceived(asRequest(refused.responseFields), flow)
    const { action } = this.#guard(request, flow)
    if (action === 'accept') this.#refuse(request, flow, refused.answer)
  }
}

/** As much of a request as could be read; To stands for the Request-URI, which the guard checks. */
function asRequest(seed: ResponseFields): SipRequest {
  return {
    kind: 'request',
    method: seed.method,
    uri: seed.to.uri,
    maxForwards: undefined,
    via: seed.via,
    from: seed.from,
    to: seed.to,
    callId: seed.callId,
    cseq: seed.cseq,
    route: [],
    recordRoute: [],
    contact: [],
    headers: HeaderList.empty,
    body: new Uint8Array(0),
  }
}
