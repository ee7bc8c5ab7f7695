import {
  type EffectIntent,
  type EffectLedger,
  type EffectRecord,
  MemoryLedger,
  type PolicyDecision,
  type Receipt,
} from '@parley/conversation'
import type { Random, UnixMs } from '@parley/kernel'
import type { InferenceEffect, RunLedger } from '@parley/store'

type Settlement = Parameters<EffectLedger['settle']>[1]

export interface HeldLedgerOptions {
  readonly ledger: RunLedger<EffectRecord['effect_kind'], PolicyDecision, Receipt>
  readonly random: Random
  readonly wallClock: () => UnixMs
  /** Written with the run's next batch. */
  readonly onInference: (effect: InferenceEffect) => void
}

/**
 * The ledger of a run that is held: what acts on somebody is committed before it is sent; model inference acts on nothing,
 * so its rows are written behind, in batches.
 */
export class HeldLedger implements EffectLedger {
  readonly #options: HeldLedgerOptions
  readonly #inference: MemoryLedger

  constructor(options: HeldLedgerOptions) {
    this.#options = options
    const { random, wallClock } = options
    this.#inference = new MemoryLedger({ random, wallClock })
  }

  intend(intent: EffectIntent): Promise<EffectRecord> {
    return intent.kind === 'gateway_inference' ? this.#inference.intend(intent) : this.#options.ledger.intend(intent)
  }

  decide(effectId: string, decision: PolicyDecision): Promise<EffectRecord> {
    return this.#of(effectId).decide(effectId, decision)
  }

  sending(effectId: string): Promise<EffectRecord> {
    return this.#of(effectId).sending(effectId)
  }

  async settle(effectId: string, outcome: Settlement): Promise<EffectRecord> {
    if (!this.#inference.has(effectId)) return this.#options.ledger.settle(effectId, outcome)
    const record = await this.#inference.settle(effectId, outcome)
    const { effect_key, action, node_id, ordinal, created_at } = record
    this.#options.onInference({
      ...{ effect_key, action, node_id, ordinal, created_at },
      kind: 'gateway_inference',
      state: outcome.state,
      receipts: outcome.receipts ?? [],
      error_code: outcome.error_code ?? null,
    })
    return record
  }

  #of(effectId: string): EffectLedger {
    return this.#inference.has(effectId) ? this.#inference : this.#options.ledger
  }
}
