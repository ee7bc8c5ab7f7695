import type { Scope } from '@parley/contract'
import { ParleyError } from '@parley/kernel'
import type { Database, Queries } from '../protocol.ts'
import {
  decideEffect,
  type EffectRow,
  type EffectSettlement,
  type EffectWriter,
  intendEffect,
  listEffects,
  type NewEffect,
  type StoredDecision,
  sendEffect,
  settleEffect,
} from './effects.ts'

/** What is about to be done; without a key it gets one of its own. */
export type EffectIntention = Omit<NewEffect, 'effect_key'> & { readonly effect_key?: string }

/** The ledger of one run's outside effects: each step is committed when it is answered. */
export interface RunLedger {
  intend(intent: EffectIntention): Promise<EffectRow>
  decide(effectId: string, decision: StoredDecision): Promise<EffectRow>
  sending(effectId: string): Promise<EffectRow>
  settle(effectId: string, outcome: EffectSettlement): Promise<EffectRow>
  list(): Promise<EffectRow[]>
}

/**
 * `newKey` makes keys nobody has: visible ASCII, at most 256. Throws `ledger_unavailable` where it cannot be written down
 * now (nothing may be sent then), `run_lost`, `effect_step_not_allowed`, `effect_not_found`.
 */
export function runLedger(database: Database, scope: Scope, writer: EffectWriter, newKey: () => string): RunLedger {
  const committed = async (work: (tx: Queries) => Promise<EffectRow>): Promise<EffectRow> => {
    try {
      return await database.transaction(scope, work)
    } catch (error) {
      if (error instanceof ParleyError && DECIDED.has(error.code)) throw error
      throw new ParleyError('ledger_unavailable', 'the ledger of effects cannot be written now: nothing may be sent', {
        retryable: true,
        cause: error,
      })
    }
  }
  return {
    intend: intent =>
      committed(tx => intendEffect(tx, scope, writer, { ...intent, effect_key: intent.effect_key ?? newKey() })),
    decide: (effectId, decision) => committed(tx => decideEffect(tx, scope, writer, effectId, decision)),
    sending: effectId => committed(tx => sendEffect(tx, scope, writer, effectId)),
    settle: (effectId, outcome) => committed(tx => settleEffect(tx, scope, writer, effectId, outcome)),
    list: () => listEffects(database.within(scope), scope, writer.run_id),
  }
}

const DECIDED = new Set(['effect_step_not_allowed', 'effect_not_found', 'effect_key_taken', 'run_lost'])
