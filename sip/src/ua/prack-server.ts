import { MachineDriver, type Ms, randomBelow, type Timer } from '@parley/kernel'
import { SipStateError } from '../errors.ts'
import { inspectRequest } from '../message/inspect-request.ts'
import type { SipRequest, SipResponse } from '../message/message.ts'
import type { ServerTransaction } from '../transaction/server-transactions.ts'
import { AnswerRetransmission } from './answer-retransmission.ts'
import { abilityHeaders, EXTENSIONS, METHODS, SESSION_BODIES } from './capabilities.ts'
import { parseRAck } from './rack.ts'
import type { Body, HeaderPairs } from './session.ts'
import { bodyOf } from './session-core.ts'
import { respond, type UaContext } from './ua-context.ts'

/** Provisional responses that wait for the PRACK of the one before. */
const MAX_WAITING = 8

/** An offer that the application does not decide in time is refused: the peer repeats its PRACK for 64*T1 only. */
const MAX_OFFER_WAIT_MS: Ms = 15_000

interface PrackHooks {
  /** Section 5: the peer may offer in a PRACK, because its own offer has been answered reliably. */
  takesOffer(): boolean
  onOffer(body: Body | undefined): void
  onOfferWithdrawn(): void
  /** A response has its PRACK, or the offer of a PRACK has its answer. */
  onAcknowledged(): void
  onUnacknowledged(): void
}

interface Unacknowledged {
  readonly rseq: number
  readonly response: SipResponse
  readonly driver: MachineDriver<'ack', 'send' | 'unacknowledged'>
}

/**
 * Our provisional responses to an INVITE that requires 100rel (RFC 3262 section 3): one at a time, repeated after T1,
 * doubling, until its PRACK; after 64*T1 without one the INVITE is given up.
 */
export class PrackServer {
  readonly #ctx: UaContext
  readonly #invite: ServerTransaction
  readonly #hooks: PrackHooks
  readonly #waiting: SipResponse[] = []
  #current: Unacknowledged | undefined
  /** The PRACK whose offer waits for `accept` or `reject`. */
  #offering: ServerTransaction | undefined
  #offerLimit: Timer | undefined
  #stopped = false
  #rseq: number

  constructor(ctx: UaContext, invite: ServerTransaction, hooks: PrackHooks) {
    this.#ctx = ctx
    this.#invite = invite
    this.#hooks = hooks
    // Section 3: from 1 to 2^31 - 1.
    this.#rseq = 1 + randomBelow(ctx.random, 2 ** 31 - 1)
  }

  /** Sends `response` when those before it have been acknowledged. */
  send(response: SipResponse): void {
    if (this.#waiting.length >= MAX_WAITING) throw new SipStateError('more progress', 'waiting for PRACKs')
    this.#waiting.push(response)
    this.#next()
  }

  #next(): void {
    if (this.#current !== undefined || this.#stopped) return
    const waiting = this.#waiting.shift()
    if (waiting === undefined) return
    const rseq = this.#rseq++
    const headers = waiting.headers.with('Require', '100rel').with('RSeq', String(rseq))
    const response = { ...waiting, headers }
    const { time, timers } = this.#ctx
    // Section 3: unlike for a 2xx the interval grows without a limit.
    const machine = new AnswerRetransmission(time.now(), { t1: timers.t1, t2: Infinity, h: 64 * timers.t1 })
    const driver = new MachineDriver(machine, time, output => {
      if (output === 'send') this.#invite.respond(response)
      else this.#hooks.onUnacknowledged()
    })
    this.#current = { rseq, response, driver }
  }

  /** Section 3: the 2xx may not overtake a response with a session description that has no PRACK, nor the answer to a PRACK's offer. */
  get holdsAnswer(): boolean {
    return (
      this.isOffering ||
      (this.#current?.response.body.length ?? 0) > 0 ||
      this.#waiting.some(({ body }) => body.length > 0)
    )
  }

  /** Answers a PRACK: 481 if it matches no pending response. */
  receive(transaction: ServerTransaction): void {
    const { request } = transaction
    const current = this.#current
    if (current === undefined || !this.#matches(request, current.rseq)) {
      transaction.respond(respond(this.#ctx, request, 481))
      return
    }
    const rejection = inspectRequest(request, { methods: METHODS, extensions: EXTENSIONS, mediaTypes: SESSION_BODIES })
    if (rejection !== undefined) {
      transaction.respond(respond(this.#ctx, request, rejection.status, { extra: rejection.headers }))
      return
    }
    current.driver.handle('ack')
    this.#current = undefined
    if (request.body.length === 0) transaction.respond(respond(this.#ctx, request, 200))
    else if (this.#hooks.takesOffer() && !this.isOffering && !this.#stopped) this.#offer(transaction)
    else transaction.respond(respond(this.#ctx, request, 488))
    this.#next()
    this.#hooks.onAcknowledged()
  }

  /** Section 5: the answer to the offer goes into the 2xx to the PRACK. */
  #offer(transaction: ServerTransaction): void {
    const { time } = this.#ctx
    this.#offering = transaction
    this.#offerLimit = time.at(time.now() + MAX_OFFER_WAIT_MS, () => {
      this.reject(504, [])
      this.#hooks.onOfferWithdrawn()
    })
    this.#hooks.onOffer(bodyOf(transaction.request))
  }

  get isOffering(): boolean {
    return this.#offering !== undefined
  }

  accept(body: Body): void {
    this.#settle(request =>
      respond(this.#ctx, request, 200, { body: body.bytes, contentType: body.contentType, extra: abilityHeaders() }),
    )
  }

  reject(status: number, extra: HeaderPairs): void {
    this.#settle(request => respond(this.#ctx, request, status, { extra }))
  }

  #settle(responseTo: (request: SipRequest) => SipResponse): void {
    const offering = this.#offering
    if (offering === undefined) return
    this.#offering = undefined
    this.#offerLimit?.cancel()
    offering.respond(responseTo(offering.request))
    if (!this.#stopped) this.#hooks.onAcknowledged()
  }

  #matches(prack: SipRequest, rseq: number): boolean {
    const rack = parseRAck(prack.headers.get('RAck') ?? '')
    const { sequence, method } = this.#invite.request.cseq
    return rack?.rseq === rseq && rack.sequence === sequence && rack.method === method
  }

  /** The final response is sent: retransmissions stop, a pending offer is refused, and a late PRACK is still answered 200. */
  stop(): void {
    this.#stopped = true
    this.reject(487, [])
    this.#waiting.length = 0
    this.#current?.driver.stop()
  }
}
