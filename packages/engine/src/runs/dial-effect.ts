import type { EffectLedger, Receipt } from '@parley/conversation'
import type { LegEnd } from '@parley/leg'

/** The ledger's row of an outbound call: `sending` with the first INVITE, settled with the far end's final answer. */
export class DialEffect {
  readonly #ledger: EffectLedger
  readonly effectId: string
  #isSending = false
  /** Call-IDs of the INVITEs, oldest first: each target that is tried because another was silent gets its own. */
  readonly #callIds = new Set<string>()

  constructor(ledger: EffectLedger, effectId: string) {
    this.#ledger = ledger
    this.effectId = effectId
  }

  /** Called before each INVITE. Throws what the ledger throws: then the INVITE must not be sent. */
  async sending(callId: string): Promise<void> {
    this.#callIds.add(callId)
    await this.#ledger.sending(this.effectId)
    this.#isSending = true
  }

  /** The far end answered: how the call ends later does not change the row. */
  async answered(callId: string): Promise<void> {
    await this.#settle({ state: 'succeeded', receipts: this.#receipts(callId) })
  }

  async settle(end: LegEnd, callId: string): Promise<void> {
    if (!this.#isSending) return this.notSent()
    if (end.answered) return this.answered(callId)
    const error_code = end.sipStatus === null ? 'no_answer' : `sip_${end.sipStatus}`
    await this.#settle({ state: 'failed', receipts: this.#receipts(callId), error_code })
  }

  async notSent(): Promise<void> {
    await this.#settle({ state: this.#isSending ? 'uncertain' : 'failed', error_code: 'not_sent' })
  }

  /** One for each Call-ID that was dialled; the last one is that of the call. */
  #receipts(callId: string): readonly Receipt[] {
    this.#callIds.delete(callId)
    return [...this.#callIds, callId].map(id => ({ kind: 'sip_dial', participant_id: id, sip_call_id: id }))
  }

  /** A settled row stays as it is. A row that cannot be written now becomes `uncertain` when the run ends. */
  async #settle(outcome: Parameters<EffectLedger['settle']>[1]): Promise<void> {
    await this.#ledger.settle(this.effectId, outcome).catch(() => {})
  }
}
