import type { Timer } from '@parley/kernel'
import type { SipRequest, SipResponse } from '../message/message.ts'
import { parseRetryAfter } from '../message/retry-after.ts'
import type { ClientHandlers, ClientTransaction, RequestFailure } from '../transaction/client-transaction.ts'
import { type Destination, transportOf } from '../transaction/message-sender.ts'
import { isTargetFault } from '../transport/target-health.ts'
import type { Flow, Target } from '../transport/transport.ts'
import { createCancel } from './cancel.ts'
import type { ClientRequestOptions } from './client-request-options.ts'
import { headersWith } from './custom-headers.ts'
import { streamFor } from './large-request.ts'
import { PendingAttempt } from './pending-attempt.ts'
import { RequestCredentials } from './request-credentials.ts'
import type { HeaderPairs, HeaderReason } from './session.ts'
import { contactFor, type UaContext } from './ua-context.ts'

/** Most targets of one request; more indicate an attack. */
const MAX_TARGETS = 8

/**
 * One request as the transaction user sees it, over as many transactions as it takes: the dialog's connection or the
 * resolved targets one after another (RFC 3263 section 4.3), and again with credentials (RFC 3261 section 22).
 */
export class ClientRequest {
  readonly #ctx: UaContext
  readonly #options: ClientRequestOptions
  #sequence: number
  #sent: SipRequest | undefined
  #transaction: ClientTransaction | undefined
  #targets: readonly Target[] = []
  #nextTarget = 0
  readonly #credentials: RequestCredentials
  /** The UDP target of the current attempt, if the request went over TCP because of its size. */
  #datagramTarget: Target | undefined
  /** Branch for the next attempt: that of the last one, if its connection closed and the request may have arrived. */
  #branch: string | undefined
  #over = false
  readonly #gate: PendingAttempt
  /** Some transaction's request was handed to the transport. */
  #handedOver = false
  /** A request was or may have been sent and got no final response. */
  #unanswered = false
  #provisional = false
  #cancel: { readonly reason: HeaderReason | undefined; sent: boolean } | undefined
  #cancelTimer: Timer | undefined
  #silenceTimer: Timer | undefined

  constructor(ctx: UaContext, options: ClientRequestOptions) {
    this.#ctx = ctx
    this.#options = options
    this.#credentials = new RequestCredentials(ctx, options.identity, options.adoptTargets === true)
    this.#sequence = options.sequence
    this.#gate = new PendingAttempt(ctx.pump)
  }

  get sequence(): number {
    return this.#sequence
  }

  /** Authorization headers of the last attempt. */
  get credentials(): HeaderPairs {
    return this.#credentials.headers
  }

  /** The peer may have got the request: it was handed to the transport, or its outcome is not known yet. */
  get mayHaveLeft(): boolean {
    return this.#handedOver || this.#unanswered || this.#transaction !== undefined
  }

  /** An attempt was sent and abandoned without a final response. */
  get leftUnanswered(): boolean {
    return this.#unanswered
  }

  start(): void {
    const { flow } = this.#options
    // A subset of RFC 5626: prefer the dialog's connection while it is open; UDP has none.
    if (flow !== undefined && this.#ctx.layer.sender.isLiveStream(flow)) this.#attempt({ flow })
    else this.#resolve()
  }

  #resolve(): void {
    const { hop, target } = this.#options
    if (target !== undefined) {
      this.#targets = [target]
      return this.#next({ cause: 'transport', code: 'not_resolved', detail: '' })
    }
    if (hop === undefined) {
      this.#failLater({ cause: 'transport', code: 'no_route', detail: 'the peer left no SIP address' })
      return
    }
    this.#ctx.layer.sender.resolve(hop, targets => {
      if (this.#over) return
      this.#targets = targets.slice(0, MAX_TARGETS)
      if (this.#options.adoptTargets) this.#options.identity.adopt(this.#targets)
      this.#next({ cause: 'transport', code: 'not_resolved', detail: `nothing found for ${hop.host}` })
    })
  }

  /** RFC 3263 section 4.3: the next target gets the same request in a new transaction. */
  #next(failure: RequestFailure): void {
    const target = this.#targets[this.#nextTarget]
    if (target === undefined) {
      this.#over = true
      this.#cancelTimer?.cancel()
      this.#options.onFailure(failure)
      return
    }
    this.#nextTarget++
    this.#attempt({ target })
  }

  /** `tried`: TCP was already tried because of the request's size, and failed. */
  #attempt(wanted: Destination, tried?: 'stream'): void {
    this.#provisional = false
    let destination = wanted
    let request = this.#build(wanted)
    const stream =
      'target' in wanted && tried === undefined
        ? streamFor(this.#ctx, request, wanted.target, this.#options)
        : undefined
    if (stream !== undefined && 'target' in wanted) {
      this.#datagramTarget = wanted.target
      destination = { target: stream }
      request = this.#build(destination)
    } else this.#datagramTarget = undefined
    const branch = this.#branch
    this.#branch = undefined
    if (this.#options.beforeAttempt === undefined) this.#transact(request, destination, branch)
    else this.#announce(request, destination, branch)
  }

  /** Announces the attempt to `beforeAttempt`; nothing is sent meanwhile. */
  #announce(request: SipRequest, destination: Destination, resentBranch: string | undefined): void {
    const via = this.#ctx.layer.clients.via(transportOf(destination), resentBranch)
    if (via === undefined) return this.#transact(request, destination, resentBranch)
    const ask = async () => this.#options.beforeAttempt?.({ ...request, via: [via] }, destination)
    this.#gate.ask(ask, {
      pass: () => this.#transact(request, destination, via.params.get('branch') ?? undefined),
      fail: error => {
        this.#over = true
        this.#options.onWithheld?.(error)
      },
    })
  }

  #transact(request: SipRequest, destination: Destination, branch: string | undefined): void {
    let isGivenUp = false
    const handlers: ClientHandlers = {
      onSent: () => {
        this.#handedOver = true
      },
      onResponse: (response, flow) => {
        if (isGivenUp) {
          if (transaction !== undefined) this.#options.silence?.onLate(transaction, response, flow)
          return
        }
        this.#silenceTimer?.cancel()
        this.#onResponse(response, flow, destination)
      },
      onFailure: failure => {
        if (isGivenUp) return
        this.#silenceTimer?.cancel()
        this.#onFailure(failure, destination)
      },
    }
    const transaction = this.#ctx.layer.clients.start(request, destination, handlers, {
      ...(branch === undefined ? {} : { branch }),
      once: this.#options.once === true,
    })
    this.#transaction = transaction
    this.#watchSilence(destination, () => {
      isGivenUp = true
    })
    this.#sent = this.#transaction?.request ?? request
    this.#options.onAttempt?.(this.#sent)
    if (this.#transaction === undefined) {
      this.#failLater({ cause: 'transport', code: 'too_many_transactions', detail: 'no room for another transaction' })
    }
  }

  /** Tries the next target if this one sends nothing. */
  #watchSilence(destination: Destination, giveUp: () => void): void {
    const { silence } = this.#options
    this.#silenceTimer?.cancel()
    if (silence === undefined || this.#transaction === undefined) return
    const { time, layer } = this.#ctx
    this.#silenceTimer = time.at(time.now() + silence.limitMs, () => {
      if (this.#over || this.#cancel !== undefined || this.#nextTarget >= this.#targets.length) return
      giveUp()
      if ('target' in destination) layer.sender.targetFailed(destination.target)
      this.#unanswered = true
      this.#transaction = undefined
      silence.onGivenUp()
      this.#next({ cause: 'timeout', code: 'timeout', detail: 'no target sent a response' })
    })
  }

  #build(destination: Destination): SipRequest {
    const contact = contactFor(this.#ctx, transportOf(destination), this.#options.contactUser)
    const built = this.#options.build(this.#sequence, contact)
    return { ...built, headers: headersWith(this.#credentials.forAttempt(built, destination), built.headers) }
  }

  #failLater(failure: RequestFailure): void {
    this.#ctx.time.at(this.#ctx.time.now(), () => {
      if (this.#over) return
      this.#over = true
      this.#options.onFailure(failure)
    })
  }

  #onFailure(failure: RequestFailure, destination: Destination): void {
    if ('target' in destination && isTargetFault(failure.code)) this.#ctx.layer.sender.targetFailed(destination.target)
    if (this.#over) return
    this.#transaction = undefined
    // A timeout does not prove that nothing arrived; only a transport failure does.
    if (failure.handedOver || failure.cause === 'timeout') this.#unanswered = true
    if (this.#options.once && failure.handedOver) {
      this.#nextTarget = this.#targets.length
      this.#next(failure)
      return
    }
    const resending = failure.cause === 'transport' && this.#cancel === undefined
    if (resending && ('flow' in destination || this.#datagramTarget !== undefined)) {
      // The same branch, so that a peer that already received the request recognises it.
      this.#branch = this.#sent?.via[0]?.params.get('branch') ?? undefined
      // The dialog's connection was already dead: dial at once. A timeout on a live connection is final.
      if ('flow' in destination) this.#resolve()
      else this.#toDatagram()
    } else {
      if (this.#cancel !== undefined) this.#nextTarget = this.#targets.length
      this.#next(failure)
    }
  }

  /** RFC 3261 section 18.1.1: a target that takes no TCP gets the large request in a datagram. */
  #toDatagram(): void {
    const target = this.#datagramTarget
    if (target === undefined) return
    this.#ctx.streamRefusals.add(target)
    this.#attempt({ target }, 'stream')
  }

  #onResponse(response: SipResponse, flow: Flow, destination: Destination): void {
    const { status } = response
    if (status < 200) {
      this.#provisional = true
      this.#sendCancel()
      if (!this.#over) this.#options.onResponse(response, flow)
      return
    }
    if ('target' in destination) this.#rate(destination.target, response)
    if (this.#over) {
      // Only an INVITE gets here: 2xx of other forks and retransmissions, for as long as Timer M runs.
      this.#options.onResponse(response, flow)
      return
    }
    if (this.#cancel === undefined) {
      if ((status === 401 || status === 407) && this.#authenticate(response, flow, destination)) return
      if (status >= 300 && this.#options.revise?.(response)) {
        this.#again(destination)
        return
      }
      if (this.#nextTarget < this.#targets.length && this.#tryElsewhere(response)) return
    }
    this.#over = true
    this.#cancelTimer?.cancel()
    this.#options.onResponse(response, flow)
  }

  /** RFC 3263 section 4.3: after a 503 the next target is tried. */
  #tryElsewhere(response: SipResponse): boolean {
    if (response.status !== 503) {
      if (this.#options.failsOver?.(response) !== true) return false
      // A server behind both targets must not take the next request for the one that the refusal ended.
      this.#sequence = this.#options.reserveSequence()
    }
    this.#next({ cause: 'transport', code: 'unavailable', detail: `every target answered ${response.status}` })
    return true
  }

  /** RFC 3261 section 21.5.4: a 503 without Retry-After does not affect the next request. */
  #rate(target: Target, response: SipResponse): void {
    const { sender } = this.#ctx.layer
    const retryAfter = parseRetryAfter(response.headers.get('Retry-After') ?? '')
    if (response.status === 503) {
      if (retryAfter !== undefined) sender.targetUnavailable(target, retryAfter.seconds * 1000)
    } else if (this.#options.isPing) sender.targetAnswered(target)
    else sender.targetWorked(target)
  }

  #authenticate(response: SipResponse, flow: Flow, destination: Destination): boolean {
    const request = this.#sent
    if (request === undefined) return false
    const sent = { request, to: destination, in: this.#transaction }
    if (!this.#credentials.answer(response, sent, flow)) return false
    this.#again(destination)
    return true
  }

  /** Sends the request to the same target with the next CSeq number. */
  #again(destination: Destination): void {
    this.#sequence = this.#options.reserveSequence()
    this.#attempt(destination)
  }

  /**
   * RFC 3261 section 9.1, for INVITE. "nothing-sent": no attempt was sent, and no handler is called any more. Otherwise the CANCEL
   * goes out as soon as a provisional response allows it, and a final response or a failure follows within 64*T1 of it.
   */
  cancel(reason: HeaderReason | undefined): 'nothing-sent' | 'cancelling' {
    if (this.#transaction === undefined || this.#gate.waits) {
      this.#over = true
      this.#gate.close()
      return 'nothing-sent'
    }
    this.#cancel ??= { reason, sent: false }
    this.#sendCancel()
    return 'cancelling'
  }

  #sendCancel(): void {
    const invite = this.#transaction
    if (this.#cancel === undefined || this.#cancel.sent || !this.#provisional || this.#over || invite === undefined)
      return
    this.#cancel.sent = true
    this.#ctx.layer.clients.startCancel(createCancel(invite.request, this.#cancel.reason), invite, {
      onResponse: () => {},
      onFailure: () => {},
    })
    // 9.1: without a final response 64*T1 after the CANCEL the INVITE is considered cancelled.
    this.#cancelTimer = this.#ctx.time.at(this.#ctx.time.now() + 64 * this.#ctx.timers.t1, () => {
      if (this.#over) return
      this.#over = true
      // A late 2xx has to be acknowledged and ended by BYE: its transaction continues for another 64*T1.
      invite.abandonAt(this.#ctx.time.now() + 64 * this.#ctx.timers.t1)
      this.#options.onFailure({ cause: 'timeout', code: 'cancel_unanswered', detail: 'no final response after CANCEL' })
    })
  }

  /** Nothing more is sent, and no handler is called any more. */
  abandon(): void {
    this.#over = true
    this.#gate.close()
    this.#cancelTimer?.cancel()
    this.#silenceTimer?.cancel()
    this.#transaction?.abandon()
  }
}
