import { MachineDriver } from '@parley/kernel'
import type { SipRequest, SipResponse } from '../message/message.ts'
import type { ServerTransaction } from '../transaction/server-transactions.ts'
import { timersFor } from '../transaction/timers.ts'
import { AnswerRetransmission } from './answer-retransmission.ts'
import type { UaContext } from './ua-context.ts'

/** A 2xx to an INVITE or re-INVITE, repeated by the user agent until the ACK (RFC 3261 sections 13.3.1.4, 14.2). */
export class AnswerDelivery {
  readonly #transaction: ServerTransaction
  readonly #driver: MachineDriver<'ack', 'send' | 'unacknowledged'>
  readonly #onAck: (ack: SipRequest) => void
  #awaiting = true

  constructor(
    ctx: UaContext,
    transaction: ServerTransaction,
    response: SipResponse,
    outcome: { onAck(ack: SipRequest): void; onUnacknowledged(): void },
  ) {
    this.#transaction = transaction
    this.#onAck = outcome.onAck
    // Over TCP and TLS as well: a proxy may lose the 2xx, and the transaction does not repeat it.
    const machine = new AnswerRetransmission(ctx.time.now(), timersFor(ctx.timers, true))
    this.#driver = new MachineDriver(machine, ctx.time, output => {
      if (output === 'send') transaction.respond(response)
      else {
        this.#over()
        outcome.onUnacknowledged()
      }
    })
  }

  get awaitsAck(): boolean {
    return this.#awaiting
  }

  /** True when `ack` belongs to this 2xx; its repetitions have no effect. */
  acknowledge(ack: SipRequest): boolean {
    if (ack.cseq.sequence !== this.#transaction.request.cseq.sequence) return false
    if (!this.#awaiting) return true
    this.#driver.handle('ack')
    this.#over()
    this.#onAck(ack)
    return true
  }

  stop(): void {
    this.#driver.stop()
    this.#over()
  }

  #over(): void {
    if (!this.#awaiting) return
    this.#awaiting = false
    this.#transaction.finish()
  }
}
