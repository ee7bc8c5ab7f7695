import type { Scope } from '@parley/contract'
import { ParleyError } from '@parley/kernel'
import { StoreError } from '../errors.ts'
import type { Database, Queries } from '../protocol.ts'
import type { JsonObject } from '../schema-runs.ts'
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
export type EffectIntention<Kind = string> = Omit<NewEffect<Kind>, 'effect_key'> & { readonly effect_key?: string }

/** As in the effects resource, without what belongs to the run. */
export type LedgerRecord<Kind = string, Decision = StoredDecision, Receipt = JsonObject> = Omit<
  EffectRow<Kind, Decision, Receipt>,
  'run_id' | 'attempt_id'
>

/**
 * The ledger of one run's outside effects: each step is committed when it is answered. The types are whose ledger it is:
 * kinds, decisions and receipts come out as they went in.
 */
export interface RunLedger<Kind = string, Decision = StoredDecision, Receipt = JsonObject> {
  intend(intent: EffectIntention<Kind>): Promise<LedgerRecord<Kind, Decision, Receipt>>
  decide(effectId: string, decision: Decision): Promise<LedgerRecord<Kind, Decision, Receipt>>
  sending(effectId: string): Promise<LedgerRecord<Kind, Decision, Receipt>>
  settle(effectId: string, outcome: EffectSettlement<Receipt>): Promise<LedgerRecord<Kind, Decision, Receipt>>
  list(): Promise<LedgerRecord<Kind, Decision, Receipt>[]>
}

/**
 * `newKey` makes keys nobody has: visible ASCII, at most 256. Throws `ledger_unavailable` where it cannot be written down
 * now (nothing may be sent then), `run_lost`, `effect_step_not_allowed`, `effect_not_found`.
 */
export function runLedger<
  Kind extends string = string,
  Decision extends StoredDecision = StoredDecision,
  Receipt extends JsonObject = JsonObject,
>(database: Database, scope: Scope, writer: EffectWriter, newKey: () => string): RunLedger<Kind, Decision, Receipt> {
  type Record = LedgerRecord<Kind, Decision, Receipt>
  const committed = async (work: (tx: Queries) => Promise<EffectRow>): Promise<Record> => {
    try {
      return recordOf(await database.transaction(scope, work)) as Record
    } catch (error) {
      if (error instanceof ParleyError && DECIDED.has(error.code)) throw error
      throw new StoreError('ledger_unavailable', 'the ledger of effects cannot be written now: nothing may be sent', {
        cause: error,
      })
    }
  }
  return {
    intend: intent =>
      committed(tx => intendEffect(tx, scope, writer, { ...intent, effect_key: intent.effect_key ?? newKey() })),
    decide: (effectId, decision) => committed(tx => decideEffect(tx, scope, writer, effectId, decision)),
    sending: async effectId => {
      const record = await committed(tx => sendEffect(tx, scope, writer, effectId))
      if (record.state === 'sending') return record
      throw new StoreError('effect_step_not_allowed', `what was allowed is denied now: ${record.decision?.reason}`)
    },
    settle: (effectId, outcome) => committed(tx => settleEffect(tx, scope, writer, effectId, outcome)),
    list: async () =>
      (await listEffects(database.within(scope), scope, writer.run_id)).map(row => recordOf(row) as Record),
  }
}

function recordOf({ run_id: _run, attempt_id: _attempt, ...record }: EffectRow): LedgerRecord {
  return record
}

const DECIDED = new Set(['effect_step_not_allowed', 'effect_not_found', 'effect_key_taken', 'run_lost'])
