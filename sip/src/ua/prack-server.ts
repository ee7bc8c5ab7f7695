import { MachineDriver, randomBelow } from '@parley/kernel'
import { SipStateError } from '../errors.ts'
import { inspectRequest } from '../message/inspect-request.ts'
import type { SipRequest, SipResponse } from '../message/message.ts'
import type { ServerTransaction } from '../transaction/server-transactions.ts'
import { AnswerRetransmission } from './answer-retransmission.ts'
import { EXTENSIONS, METHODS, SESSION_BODIES } from './capabilities.ts'
import { parseRAck } from './rack.ts'
import { respond, type UaContext } from './ua-context.ts'

/** Provisional responses that wait for the PRACK of the one before. */
const MAX_WAITING = 8

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
  readonly #hooks: { onAcknowledged(): void; onUnacknowledged(): void }
  readonly #waiting: SipResponse[] = []
  #current: Unacknowledged | undefined
  #stopped = false
  #rseq: number

  constructor(ctx: UaContext, invite: ServerTransaction, hooks: { onAcknowledged(): void; onUnacknowledged(): void }) {
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

  /** Section 3: the 2xx may not overtake a response with a session description that has no PRACK. */
  get holdsAnswer(): boolean {
    return (this.#current?.response.body.length ?? 0) > 0 || this.#waiting.some(({ body }) => body.length > 0)
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
    // Section 5 allows an offer in a PRACK; we refuse it, because the session is not changed before the answer.
    transaction.respond(respond(this.#ctx, request, request.body.length === 0 ? 200 : 488))
    this.#next()
    this.#hooks.onAcknowledged()
  }

  #matches(prack: SipRequest, rseq: number): boolean {
    const rack = parseRAck(prack.headers.get('RAck') ?? '')
    const { sequence, method } = this.#invite.request.cseq
    return rack?.rseq === rseq && rack.sequence === sequence && rack.method === method
  }

  /** The final response is sent: retransmissions stop, and a late PRACK is still answered 200. */
  stop(): void {
    this.#stopped = true
    this.#waiting.length = 0
    this.#current?.driver.stop()
  }
}
