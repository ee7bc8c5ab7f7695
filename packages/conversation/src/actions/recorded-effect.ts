import { POLICY_VERSION } from '@parley/flow'
import type { Ms, Time } from '@parley/kernel'
import type { EffectKind, EffectLedger, EffectRecord, Receipt } from '../ledger.ts'
import type { ActionOutcome, ActionRequest } from '../ports.ts'
import { answeredInTime } from './answered-in-time.ts'

interface RecordedEffectOptions {
  readonly ledger: EffectLedger
  readonly time: Time
  /** Timeout of each call to the ledger. Default 5000. */
  readonly portTimeoutMs?: Ms
}

/** One use of an action that is sent at most once, from its ledger row to its outcome. */
export class RecordedEffect {
  readonly #options: Required<RecordedEffectOptions>
  readonly #request: ActionRequest
  readonly #startedAt: Ms
  #effect: EffectRecord | undefined

  constructor(options: RecordedEffectOptions, request: ActionRequest) {
    this.#options = { ledger: options.ledger, time: options.time, portTimeoutMs: options.portTimeoutMs ?? 5000 }
    this.#request = request
    this.#startedAt = options.time.now()
  }

  /** Records the effect, its permission and that it is sent now. The outcome where it may not be sent; null: it may. */
  async begin(kind: EffectKind): Promise<ActionOutcome | null> {
    const { action, node_id, ordinal, onPhase } = this.#request
    const { action_id: id, version } = action
    this.#effect = await this.#ledger(ledger => ledger.intend({ kind, action: { id, version }, node_id, ordinal }))
    if (this.#effect === undefined) return this.#outcome('failed', 'ledger_unavailable')
    const { effect_id } = this.#effect
    onPhase({ phase: 'started', effect_id })
    if (kind !== 'none') {
      const allowed = { decision: 'allow' as const, reason: null, policy_version: POLICY_VERSION }
      const decided = await this.#ledger(ledger => ledger.decide(effect_id, allowed))
      if (decided === undefined) return this.#outcome('failed', 'ledger_unavailable')
      if (decided.state !== 'intended') return this.#outcome('failed', decided.error_code ?? 'policy_denied')
    }
    const sending = await this.#ledger(ledger => ledger.sending(effect_id))
    return sending === undefined ? this.settle('failed', 'ledger_unavailable') : null
  }

  /** The outcome holds even when the ledger fails. */
  async settle(
    outcome: ActionOutcome['outcome'],
    error_code: string | null,
    body: unknown = null,
    receipts: readonly Receipt[] = [],
  ): Promise<ActionOutcome> {
    const effect = this.#effect
    if (effect !== undefined)
      await this.#ledger(ledger => ledger.settle(effect.effect_id, { state: outcome, receipts, error_code }))
    return this.#outcome(outcome, error_code, body)
  }

  async #ledger(ask: (ledger: EffectLedger) => Promise<EffectRecord>): Promise<EffectRecord | undefined> {
    const { ledger, time, portTimeoutMs } = this.#options
    return (await answeredInTime(time, portTimeoutMs, () => ask(ledger)))?.value
  }

  #outcome(outcome: ActionOutcome['outcome'], error_code: string | null, body: unknown = null): ActionOutcome {
    const durationMs = Math.round(this.#options.time.now() - this.#startedAt)
    return { outcome, body, effect_id: this.#effect?.effect_id ?? '', error_code, durationMs }
  }
}
