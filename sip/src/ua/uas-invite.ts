import { randomToken, type Timer } from '@parley/kernel'
import { Dialog } from '../dialog/dialog.ts'
import { SipStateError } from '../errors.ts'
import type { SipRequest, SipResponse } from '../message/message.ts'
import type { ServerTransaction } from '../transaction/server-transactions.ts'
import { AnswerDelivery } from './answer-delivery.ts'
import { abilityHeaders } from './capabilities.ts'
import { PrackServer } from './prack-server.ts'
import { requires100rel } from './rack.ts'
import type { Body, HeaderPairs } from './session.ts'
import { bodyOf, type SessionCore } from './session-core.ts'
import type { SessionTimer } from './session-timer.ts'
import { contactFor, respond } from './ua-context.ts'

/** Section 13.3.1.1: a provisional response is repeated every minute, so that proxies do not cancel. */
const PROGRESS_REPEAT_MS = 60_000

/**
 * The initial INVITE from the callee's side (RFC 3261 section 13.3), until the ACK to its 2xx.
 *
 *     incoming --progress--> early --answer--> confirmed --ACK--> acknowledged
 *     incoming, early --reject, CANCEL, BYE--> terminated
 *     confirmed --no ACK in 64*T1--> BYE
 */
export class UasInvite {
  readonly #core: SessionCore
  readonly #timer: SessionTimer
  readonly #transaction: ServerTransaction
  readonly #localTag: string
  readonly #onUnacknowledged: () => void
  #progressTimer: Timer | undefined
  readonly #expireTimer: Timer | undefined
  #delivery: AnswerDelivery | undefined
  /** The final response has been sent. */
  #answered = false
  #whenSettled: (() => void) | undefined
  /** The peer requires reliable provisional responses. */
  readonly #pracks: PrackServer | undefined
  /** The answer waits for a PRACK. */
  #held: Body | undefined
  /** The answer to the peer's offer was sent in a reliable 18x. */
  #offerAnswered = false

  constructor(core: SessionCore, timer: SessionTimer, transaction: ServerTransaction, onUnacknowledged: () => void) {
    this.#core = core
    this.#timer = timer
    this.#transaction = transaction
    this.#onUnacknowledged = onUnacknowledged
    this.#localTag = randomToken(core.ctx.random, 16)
    core.dialog = Dialog.ofServer(transaction.request, this.#localTag, core.identity.serverName)
    core.own(core.dialog)
    core.noteAbilities(transaction.request)
    this.#expireTimer = this.#armExpires()
    if (requires100rel(transaction.request.headers)) {
      this.#pracks = new PrackServer(core.ctx, transaction, {
        takesOffer: () => this.#offerAnswered,
        onOffer: body => core.emit({ type: 'offer', body }),
        onOfferWithdrawn: () => core.emit({ type: 'offer-withdrawn' }),
        onAcknowledged: () => this.#release(),
        onUnacknowledged: () => this.#unacknowledgedProgress(),
      })
    }
  }

  /** 13.3.1 item 1: an INVITE with Expires. */
  #armExpires(): Timer | undefined {
    const seconds = /^\d{1,7}$/.exec(this.#transaction.request.headers.get('Expires') ?? '')?.[0]
    const { time } = this.#core.ctx
    if (seconds === undefined || Number(seconds) === 0) return undefined
    return time.at(time.now() + 1000 * Number(seconds), () => this.withdrawn('its Expires header'))
  }

  progress(status: number, body: Body | undefined): void {
    this.#requireUnanswered('progress')
    if (!Number.isInteger(status) || status < 101 || status > 199) {
      throw new SipStateError(`progress with ${status}`, this.#core.state)
    }
    this.#core.state = 'early'
    // RFC 3262 section 5: the first reliable response to an INVITE without an offer would have to offer, and the answer
    // come in the PRACK. We offer only in the 2xx.
    if (this.#pracks !== undefined && !this.#wasOffered) return
    this.#sendProgress(this.#dialogResponse(status, this.#offerAnswered ? undefined : body))
    this.#offerAnswered ||= this.#pracks !== undefined && body !== undefined
    this.#repeat(status, body)
  }

  #sendProgress(response: SipResponse): void {
    if (this.#pracks === undefined) this.#transaction.respond(response)
    else this.#pracks.send(response)
  }

  #repeat(status: number, body: Body | undefined): void {
    const { time } = this.#core.ctx
    this.#progressTimer?.cancel()
    this.#progressTimer = time.at(time.now() + PROGRESS_REPEAT_MS, () => {
      this.#sendProgress(this.#dialogResponse(status, this.#pracks === undefined ? body : undefined))
      this.#repeat(status, body)
    })
  }

  get #wasOffered(): boolean {
    return this.#transaction.request.body.length > 0
  }

  /** No offer of the peer waits for our answer. */
  get offerAnswered(): boolean {
    return this.#offerAnswered && this.#pracks?.holdsAnswer === false
  }

  receivePrack(transaction: ServerTransaction): void {
    if (this.#pracks !== undefined) this.#pracks.receive(transaction)
    else transaction.respond(respond(this.#core.ctx, transaction.request, 481))
  }

  /** The offer of a PRACK (RFC 3262 section 5) waits for its answer. */
  get prackOffer(): PrackServer | undefined {
    return this.#pracks?.isOffering === true ? this.#pracks : undefined
  }

  /** RFC 3262 section 3: 64*T1 without a PRACK. */
  #unacknowledgedProgress(): void {
    const response = respond(this.#core.ctx, this.#transaction.request, 504, { toTag: this.#localTag })
    this.#refuse(response)
    this.#core.end({
      cause: 'timeout',
      by: 'remote',
      status: 504,
      reason: response.reason,
      confirmed: true,
      detail: 'no PRACK to a reliable provisional response',
      retryAfterS: undefined,
    })
  }

  answer(body: Body): void {
    this.#requireUnanswered('answer')
    this.#held = body
    this.#progressTimer?.cancel()
    this.#release()
  }

  /** RFC 3262 section 3: the 2xx waits for the PRACK of every session description that went out before. */
  #release(): void {
    const held = this.#held
    if (held === undefined || this.#answered || this.#pracks?.holdsAnswer) return
    // RFC 3261 section 13.2.1: an answer that was given reliably is not given again.
    const response = this.#dialogResponse(200, this.#offerAnswered ? undefined : held)
    this.#finalResponse()
    this.#core.state = 'confirmed'
    this.#delivery = new AnswerDelivery(this.#core.ctx, this.#transaction, response, {
      onAck: ack => {
        if (this.#core.state === 'confirmed') this.#core.emit({ type: 'acknowledged', body: bodyOf(ack) })
        this.#settled()
      },
      // 13.3.1.4: without an ACK the dialog is confirmed, but the session is terminated by a BYE.
      onUnacknowledged: () => {
        if (this.#whenSettled === undefined) this.#onUnacknowledged()
        else this.#settled()
      },
    })
  }

  reject(
    status: number,
    options: { readonly reason?: string; readonly retryAfterS?: number; readonly headers?: HeaderPairs } = {},
  ): void {
    this.#requireUnanswered('reject')
    if (!Number.isInteger(status) || status < 300 || status > 699) {
      throw new SipStateError(`reject with ${status}`, this.#core.state)
    }
    const extra: (readonly [string, string])[] = [...(options.headers ?? [])]
    if (options.retryAfterS !== undefined) extra.push(['Retry-After', String(Math.ceil(options.retryAfterS))])
    const response = respond(this.#core.ctx, this.#transaction.request, status, {
      toTag: this.#localTag,
      extra,
      ...(options.reason === undefined ? {} : { reason: options.reason }),
    })
    this.#refuse(response)
    this.#core.end({
      cause: 'rejected',
      by: 'local',
      status,
      reason: response.reason,
      confirmed: true,
      detail: `INVITE answered ${status} ${response.reason}`,
      retryAfterS: options.retryAfterS,
    })
  }

  /** A CANCEL (9.2) or BYE (15.1.2) before the final response ends the INVITE with 487; a later CANCEL does nothing. */
  withdrawn(by: string): void {
    if (this.#answered) return
    const response = respond(this.#core.ctx, this.#transaction.request, 487, { toTag: this.#localTag })
    this.#refuse(response)
    this.#core.end({
      cause: 'cancelled',
      by: 'remote',
      status: 487,
      reason: response.reason,
      confirmed: true,
      detail: `withdrawn by ${by} before the answer`,
      retryAfterS: undefined,
    })
  }

  #refuse(response: SipResponse): void {
    this.#finalResponse()
    this.#transaction.respond(response)
  }

  #finalResponse(): void {
    this.#answered = true
    this.#pracks?.stop()
    this.#progressTimer?.cancel()
    this.#expireTimer?.cancel()
  }

  /** True when `ack` was the one to our 2xx, or a repetition of it. */
  acknowledge(ack: SipRequest): boolean {
    return this.#delivery?.acknowledge(ack) ?? false
  }

  get isAnswered(): boolean {
    return this.#answered
  }

  get awaitsAck(): boolean {
    return this.#delivery?.awaitsAck ?? false
  }

  /** Section 15: a callee sends no BYE before the ACK to its 2xx. `then` runs at once if no ACK is pending. */
  whenSettled(then: () => void): void {
    if (this.awaitsAck) this.#whenSettled = then
    else then()
  }

  #settled(): void {
    const then = this.#whenSettled
    this.#whenSettled = undefined
    then?.()
  }

  /** The session is over: retransmissions stop. */
  stop(): void {
    this.#progressTimer?.cancel()
    this.#expireTimer?.cancel()
    this.#pracks?.stop()
    this.#delivery?.stop()
  }

  #requireUnanswered(command: string): void {
    const { state } = this.#core
    if (this.#held !== undefined && command !== 'reject') throw new SipStateError(command, `${state} and answered`)
    if (this.#answered || (state !== 'incoming' && state !== 'early')) throw new SipStateError(command, state)
  }

  #dialogResponse(status: number, body: Body | undefined): SipResponse {
    const { ctx } = this.#core
    const { request, flow } = this.#transaction
    return respond(ctx, request, status, {
      toTag: this.#localTag,
      contact: [contactFor(ctx, flow.transport, this.#core.contactUser)],
      copyRecordRoute: true,
      extra: status >= 200 ? [...abilityHeaders(), ...this.#timer.answer(request)] : [],
      ...(body === undefined ? {} : { body: body.bytes, contentType: body.contentType }),
    })
  }
}
