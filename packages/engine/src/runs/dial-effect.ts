import type { EffectLedger, Receipt } from '@parley/conversation'
import type { LegEnd } from '@parley/leg'

/** The ledger's row of an outbound call: `sending` with the first INVITE, settled with the far end's final answer. */
export class DialEffect {
  readonly #ledger: EffectLedger
  readonly effectId: string
  #isSending = false

  constructor(ledger: EffectLedger, effectId: string) {
    this.#ledger = ledger
    this.effectId = effectId
  }

  /** Called before each INVITE. Throws what the ledger throws: then the INVITE must not be sent. */
  async sending(): Promise<void> {
    await this.#ledger.sending(this.effectId)
    this.#isSending = true
  }

  /** The far end answered: how the call ends later does not change the row. */
  async answered(callId: string): Promise<void> {
    await this.#settle({ state: 'succeeded', receipts: receiptsOf(callId) })
  }

  async settle(end: LegEnd, callId: string): Promise<void> {
    if (!this.#isSending) return this.notSent()
    if (end.answered) return this.answered(callId)
    const error_code = end.sipStatus === null ? 'no_answer' : `sip_${end.sipStatus}`
    await this.#settle({ state: 'failed', receipts: receiptsOf(callId), error_code })
  }

  async notSent(): Promise<void> {
    await this.#settle({ state: this.#isSending ? 'uncertain' : 'failed', error_code: 'not_sent' })
  }

  /** A settled row stays as it is. A row that cannot be written now becomes `uncertain` when the run ends. */
  async #settle(outcome: Parameters<EffectLedger['settle']>[1]): Promise<void> {
    await this.#ledger.settle(this.effectId, outcome).catch(() => {})
  }
}

function receiptsOf(callId: string): readonly Receipt[] {
  return [{ kind: 'sip_dial', participant_id: callId, sip_call_id: callId }]
}
