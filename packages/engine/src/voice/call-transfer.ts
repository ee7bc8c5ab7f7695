import type { LegRequest } from '@parley/flow'
import { ParleyError } from '@parley/kernel'
import { type LegEvent, parseUri } from '@parley/leg'
import type { LegRequestHandler, OnLegAnswer } from './leg-request-handler.ts'
import type { ConversationLeg } from './logged-call.ts'
import type { TransferRules } from './voice-agent.ts'

type Transfer = LegRequest & { readonly type: 'transfer' }

const BY_REFER: TransferRules = { refer: true, written: number => number }

/** Cold transfer of a call: a REFER to a number of the far end's own network, with one result. */
export class CallTransfer implements LegRequestHandler<Transfer> {
  readonly #leg: ConversationLeg
  readonly #rules: TransferRules
  readonly #onAnswer: OnLegAnswer
  #requestId: string | null = null

  constructor(leg: ConversationLeg, rules: TransferRules | undefined, onAnswer: OnLegAnswer) {
    this.#leg = leg
    this.#rules = rules ?? BY_REFER
    this.#onAnswer = onAnswer
  }

  start(requestId: string, { destination, custom_sip_headers: headers }: Transfer): void {
    this.#requestId = requestId
    const { peerHost } = this.#leg
    const number = this.#rules.written(destination)
    const target = peerHost === null ? undefined : parseUri(`sip:${number}@${peerHost};user=phone`)
    if (target === undefined || !this.#rules.refer) return this.#settle('failed', null)
    try {
      this.#leg.transfer(target, { headers: Object.entries(headers) })
    } catch (error) {
      if (!(error instanceof ParleyError)) throw error
      this.#settle('failed', null)
    }
  }

  onLeg(event: LegEvent): void {
    if (event.type === 'transfer-result') this.#settle(event.taken ? 'taken' : 'failed', event.receipt)
  }

  #settle(outcome: 'taken' | 'failed', receipt: (LegEvent & { type: 'transfer-result' })['receipt'] | null): void {
    const id = this.#requestId
    if (id === null) return
    this.#requestId = null
    this.#onAnswer(
      id,
      { type: 'transfer_result', outcome },
      {
        kind: 'sip_transfer',
        refer_status: receipt?.referStatus ?? null,
        final_sip_status: receipt?.finalSipStatus ?? null,
        disconnect_reason: receipt?.disconnectReason ?? null,
      },
    )
  }
}
