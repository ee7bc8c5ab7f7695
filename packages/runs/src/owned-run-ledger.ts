import {
  type EffectIntent,
  type EffectLedger,
  type EffectRecord,
  InMemoryEffectLedger,
  type PolicyDecision,
  type Receipt,
} from '@parley/conversation'
import type { Random, UnixMs } from '@parley/kernel'
import type { InferenceEffect, RunLedger } from '@parley/store'
import { RunsError } from './errors.ts'

type Settlement = Parameters<EffectLedger['settle']>[1]

interface OwnedRunLedgerOptions {
  readonly ledger: RunLedger<EffectRecord['effect_kind'], PolicyDecision, Receipt>
  readonly random: Random
  readonly wallClock: () => UnixMs
  /** Written with the run's next batch. */
  readonly onInference: (effect: InferenceEffect) => void
  /** Counts a transfer in the daily limit of calls; what there is of it where it is used up. */
  readonly countTransfer: () => Promise<{ readonly limit: number; readonly used: number } | null>
}

/**
 * The ledger of a run that is held: what acts on somebody is committed before it is sent; model inference acts on nothing,
 * so its rows are written behind, in batches.
 */
export class OwnedRunLedger implements EffectLedger {
  readonly #options: OwnedRunLedgerOptions
  readonly #inference: InMemoryEffectLedger
  readonly #transfers = new Set<string>()

  constructor(options: OwnedRunLedgerOptions) {
    this.#options = options
    const { random, wallClock } = options
    this.#inference = new InMemoryEffectLedger({ random, wallClock })
  }

  async intend(intent: EffectIntent): Promise<EffectRecord> {
    if (intent.kind === 'gateway_inference') return this.#inference.intend(intent)
    const record = await this.#options.ledger.intend(intent)
    if (intent.kind === 'sip_transfer') this.#transfers.add(record.effect_id)
    return record
  }

  /** A transfer that the policy allows counts as a call, and is denied where the day has no more of them. */
  async decide(effectId: string, decision: PolicyDecision): Promise<EffectRecord> {
    const counts = decision.decision === 'allow' && this.#transfers.has(effectId)
    const isOverLimit = counts && !(await this.#counted())
    return this.#of(effectId).decide(
      effectId,
      isOverLimit ? { ...decision, decision: 'deny', reason: 'daily_call_limit' } : decision,
    )
  }

  async #counted(): Promise<boolean> {
    try {
      return (await this.#options.countTransfer()) === null
    } catch (cause) {
      throw new RunsError('ledger_unavailable', 'the transfer cannot be counted now: it may not be sent', { cause })
    }
  }

  sending(effectId: string): Promise<EffectRecord> {
    return this.#of(effectId).sending(effectId)
  }

  async settle(effectId: string, outcome: Settlement): Promise<EffectRecord> {
    if (!this.#inference.has(effectId)) return this.#options.ledger.settle(effectId, outcome)
    const record = await this.#inference.settle(effectId, outcome)
    const { effect_key, action, node_id, ordinal, created_at } = record
    this.#options.onInference({
      effect_key,
      action,
      node_id,
      ordinal,
      created_at,
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
