import { randomBelow } from '@parley/kernel'
import { SipStateError } from '../errors.ts'
import { inspectRequest } from '../message/inspect-request.ts'
import { type SipRequest, type SipResponse, tagOf } from '../message/message.ts'
import type { ServerTransaction } from '../transaction/server-transactions.ts'
import { AnswerDelivery } from './answer-delivery.ts'
import { abilityHeaders, EXTENSIONS, METHODS, SESSION_BODIES } from './capabilities.ts'
import { offerRefusal } from './offer-refusal.ts'
import type { Body, HeaderPairs } from './session.ts'
import { bodyOf, type SessionCore } from './session-core.ts'
import type { SessionTimer } from './session-timer.ts'
import { contactFor, respond } from './ua-context.ts'

/**
 * re-INVITEs of the peer (RFC 3261 section 14.2).
 *
 *     idle --INVITE: offer--> pending --acceptOffer: 200--> answered --ACK--> idle
 *                                |----rejectOffer, CANCEL--> idle
 *     answered --no ACK in 64*T1--> BYE
 */
export class IncomingReinvite {
  readonly #core: SessionCore
  readonly #timer: SessionTimer
  readonly #hooks: { isGlare(): boolean; onSettled(): void; onUnacknowledged(): void }
  #pending: ServerTransaction | undefined
  #delivery: AnswerDelivery | undefined

  /** `isGlare`: an INVITE of ours, or the 2xx to an earlier one of theirs, is in progress; `onSettled`: none is any more. */
  constructor(
    core: SessionCore,
    timer: SessionTimer,
    hooks: { isGlare(): boolean; onSettled(): void; onUnacknowledged(): void },
  ) {
    this.#core = core
    this.#timer = timer
    this.#hooks = hooks
  }

  get isPending(): boolean {
    return this.#pending !== undefined
  }

  get isUnderWay(): boolean {
    return this.isPending || (this.#delivery?.awaitsAck ?? false)
  }

  /** Answers at once, or keeps `transaction` for acceptOffer and rejectOffer. */
  receive(transaction: ServerTransaction): void {
    const { request } = transaction
    // 14.2: a second INVITE before the final response to the first.
    if (this.isPending) {
      const wait = String(randomBelow(this.#core.ctx.random, 11))
      transaction.respond(this.#refusal(request, 500, [['Retry-After', wait]]))
      return
    }
    // 14.2: while an INVITE of ours is in progress; and while a 2xx of ours still waits for the ACK that may answer it.
    if (this.#hooks.isGlare() || this.#delivery?.awaitsAck) {
      transaction.respond(this.#refusal(request, 491))
      return
    }
    const rejection = inspectRequest(request, { methods: METHODS, extensions: EXTENSIONS, mediaTypes: SESSION_BODIES })
    if (rejection !== undefined) {
      transaction.respond(this.#refusal(request, rejection.status, rejection.headers))
      return
    }
    const tooSmall = this.#timer.objectTo(request)
    if (tooSmall !== undefined) {
      transaction.respond(this.#refusal(request, 422, tooSmall))
      return
    }
    this.#pending = transaction
    this.#core.emit({ type: 'offer', body: bodyOf(request) })
  }

  accept(body: Body): void {
    const transaction = this.#take('acceptOffer')
    const { ctx } = this.#core
    const { request, flow } = transaction
    // 12.2.2, RFC 6141: a successful re-INVITE refreshes the remote target.
    this.#core.dialog?.refreshTarget(request)
    this.#core.noteAbilities(request)
    const response = respond(ctx, request, 200, {
      contact: [contactFor(ctx, flow.transport, this.#core.contactUser)],
      extra: [...abilityHeaders(), ...this.#timer.answer(request)],
      body: body.bytes,
      contentType: body.contentType,
    })
    const weOffered = request.body.length === 0
    this.#delivery = new AnswerDelivery(ctx, transaction, response, {
      onAck: ack => {
        if (weOffered) this.#core.emit({ type: 'offer-answered', body: bodyOf(ack) })
        this.#hooks.onSettled()
      },
      onUnacknowledged: () => this.#hooks.onUnacknowledged(),
    })
  }

  reject(status: number, warning: string | undefined): void {
    const extra = offerRefusal(this.#core, status, warning)
    const transaction = this.#take('rejectOffer')
    transaction.respond(this.#refusal(transaction.request, status, extra))
    this.#hooks.onSettled()
  }

  /** 9.2: the CANCEL was answered 200 already; the INVITE is answered 487. */
  cancelled(transaction: ServerTransaction | undefined): void {
    if (transaction === undefined || this.#pending !== transaction) return
    this.#pending = undefined
    transaction.respond(this.#refusal(transaction.request, 487))
    this.#core.emit({ type: 'offer-withdrawn' })
    this.#hooks.onSettled()
  }

  acknowledge(ack: SipRequest): boolean {
    return this.#delivery?.acknowledge(ack) ?? false
  }

  /** 15.1.2: a re-INVITE that is pending when the session ends is answered 487. */
  stop(): void {
    this.#delivery?.stop()
    const pending = this.#pending
    this.#pending = undefined
    if (pending !== undefined) pending.respond(this.#refusal(pending.request, 487))
  }

  #take(command: string): ServerTransaction {
    const pending = this.#pending
    if (pending === undefined) throw new SipStateError(command, this.#core.state)
    this.#pending = undefined
    return pending
  }

  #refusal(request: SipRequest, status: number, extra: HeaderPairs = []): SipResponse {
    return respond(this.#core.ctx, request, status, { extra, toTag: tagOf(request.to) ?? '' })
  }
}
