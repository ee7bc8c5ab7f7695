import type { Receipt } from '@parley/conversation'
import { ParleyError } from '@parley/kernel'
import { type CallLeg, type LegEvent, parseUri } from '@parley/leg'

export type TransferReceipt = Extract<Receipt, { kind: 'sip_transfer' }>

type OnSettled = (requestId: string, outcome: 'taken' | 'failed', receipt: TransferReceipt) => void

/** Cold transfer of a call: a REFER to a number of the far end's own network, with one result. */
export class CallTransfer {
  readonly #leg: CallLeg
  readonly #onSettled: OnSettled
  #requestId: string | null = null

  constructor(leg: CallLeg, onSettled: OnSettled) {
    this.#leg = leg
    this.#onSettled = onSettled
  }

  start(requestId: string, destination: string, headers: Readonly<Record<string, string>>): void {
    this.#requestId = requestId
    const { peerHost } = this.#leg
    const target = peerHost === null ? undefined : parseUri(`sip:${destination}@${peerHost};user=phone`)
    if (target === undefined) return this.#settle('failed', null)
    try {
      this.#leg.transfer(target, { headers: Object.entries(headers) })
    } catch (error) {
      if (!(error instanceof ParleyError)) throw error
      this.#settle('failed', null)
    }
  }

  onResult({ taken, receipt }: LegEvent & { type: 'transfer-result' }): void {
    this.#settle(taken ? 'taken' : 'failed', receipt)
  }

  #settle(outcome: 'taken' | 'failed', receipt: (LegEvent & { type: 'transfer-result' })['receipt'] | null): void {
    const id = this.#requestId
    if (id === null) return
    this.#requestId = null
    this.#onSettled(id, outcome, {
      kind: 'sip_transfer',
      refer_status: receipt?.referStatus ?? null,
      final_sip_status: receipt?.finalSipStatus ?? null,
      disconnect_reason: receipt?.disconnectReason ?? null,
    })
  }
}
