import { type Ms, randomBelow, type Timer } from '@parley/kernel'
import { SipStateError } from '../errors.ts'
import { inspectRequest } from '../message/inspect-request.ts'
import type { ServerTransaction } from '../transaction/server-transactions.ts'
import { abilityHeaders, EXTENSIONS, METHODS, SESSION_BODIES } from './capabilities.ts'
import { offerRefusal } from './offer-refusal.ts'
import type { Body, HeaderPairs } from './session.ts'
import { bodyOf, type SessionCore } from './session-core.ts'
import type { SessionTimer } from './session-timer.ts'
import { contactFor, respond } from './ua-context.ts'

/** RFC 3311 section 5.2: an UPDATE is answered promptly; an offer that the application does not decide in time is refused. */
const MAX_WAIT_MS: Ms = 15_000

/** Why an offer in an UPDATE must be refused now. */
type OfferConflict = 'ours' | 'theirs' | undefined

/**
 * UPDATEs of the peer (RFC 3311 section 5.2). Without a session description: answered 200 at once. With one: an offer
 * like that of a re-INVITE, except that no ACK follows the 200.
 */
export class IncomingUpdate {
  readonly #core: SessionCore
  readonly #timer: SessionTimer
  readonly #hooks: { conflict(): OfferConflict; onSettled(): void }
  #pending: ServerTransaction | undefined
  #limit: Timer | undefined

  constructor(core: SessionCore, timer: SessionTimer, hooks: { conflict(): OfferConflict; onSettled(): void }) {
    this.#core = core
    this.#timer = timer
    this.#hooks = hooks
  }

  /** An offer waits for acceptOffer or rejectOffer. */
  get isPending(): boolean {
    return this.#pending !== undefined
  }

  receive(transaction: ServerTransaction): void {
    const { request } = transaction
    if (!this.#screened(transaction)) return
    // 5.2: one UPDATE at a time; and RFC 4028 section 9.
    if (this.isPending) this.#later(transaction)
    else {
      const tooSmall = this.#timer.objectTo(request)
      if (tooSmall !== undefined) this.#refuse(transaction, 422, tooSmall)
      else if (request.body.length === 0) this.#succeed(transaction, undefined)
      else this.#offered(transaction)
    }
  }

  #offered(transaction: ServerTransaction): void {
    const conflict = this.#hooks.conflict()
    // 5.2: our own offer has no answer yet; theirs has none from us.
    if (conflict === 'ours') this.#refuse(transaction, 491)
    else if (conflict === 'theirs') this.#later(transaction)
    else {
      const { time } = this.#core.ctx
      this.#pending = transaction
      this.#limit = time.at(time.now() + MAX_WAIT_MS, () => this.#withdraw(504))
      this.#core.emit({ type: 'offer', body: bodyOf(transaction.request) })
    }
  }

  /** Before the session is confirmed an UPDATE may only refresh the target; `conflict` says whose offer is unanswered. */
  receiveEarly(transaction: ServerTransaction, conflict: OfferConflict): void {
    if (!this.#screened(transaction)) return
    const { request, flow } = transaction
    const { ctx } = this.#core
    if (request.body.length === 0) {
      const contact = [contactFor(ctx, flow.transport, this.#core.contactUser)]
      transaction.respond(respond(ctx, request, 200, { contact, extra: abilityHeaders() }))
    } else if (conflict === 'ours') this.#refuse(transaction, 491)
    else if (conflict === 'theirs') this.#later(transaction)
    // 5.2: an unanswered session cannot be changed without asking the user.
    else this.#refuse(transaction, 504)
  }

  #screened(transaction: ServerTransaction): boolean {
    const { request } = transaction
    const rejection = inspectRequest(request, { methods: METHODS, extensions: EXTENSIONS, mediaTypes: SESSION_BODIES })
    if (rejection !== undefined) this.#refuse(transaction, rejection.status, rejection.headers)
    return rejection === undefined
  }

  #succeed(transaction: ServerTransaction, body: Body | undefined): void {
    const { ctx, dialog } = this.#core
    const { request, flow } = transaction
    this.#core.noteAbilities(request)
    dialog?.refreshTarget(request)
    const response = respond(ctx, request, 200, {
      contact: [contactFor(ctx, flow.transport, this.#core.contactUser)],
      extra: [...abilityHeaders(), ...this.#timer.answer(request)],
      ...(body === undefined ? {} : { body: body.bytes, contentType: body.contentType }),
    })
    transaction.respond(response)
  }

  accept(body: Body): void {
    this.#succeed(this.#take('acceptOffer'), body)
    this.#hooks.onSettled()
  }

  reject(status: number, warning: string | undefined): void {
    const extra = offerRefusal(this.#core, status, warning)
    this.#refuse(this.#take('rejectOffer'), status, extra)
    this.#hooks.onSettled()
  }

  #take(command: string): ServerTransaction {
    const pending = this.#pending
    if (pending === undefined) throw new SipStateError(command, this.#core.state)
    this.#pending = undefined
    this.#limit?.cancel()
    return pending
  }

  #withdraw(status: number): void {
    if (this.#pending === undefined) return
    this.#refuse(this.#take('offer-withdrawn'), status)
    this.#core.emit({ type: 'offer-withdrawn' })
    this.#hooks.onSettled()
  }

  #later(transaction: ServerTransaction): void {
    this.#refuse(transaction, 500, [['Retry-After', String(randomBelow(this.#core.ctx.random, 11))]])
  }

  #refuse(transaction: ServerTransaction, status: number, extra: HeaderPairs = []): void {
    transaction.respond(respond(this.#core.ctx, transaction.request, status, { extra }))
  }

  /** The session ends: a pending offer is answered 487. */
  stop(): void {
    if (this.#pending !== undefined) this.#refuse(this.#take('stop'), 487)
  }
}
