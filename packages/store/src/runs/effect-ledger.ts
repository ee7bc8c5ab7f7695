import type { Scope } from '@parley/contract'
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

/** An effect to be executed; without a key a new one is generated. */
export type EffectIntention<Kind = string> = Omit<NewEffect<Kind>, 'effect_key'> & { readonly effect_key?: string }

/** An effect as in the effects resource, without the run's fields. */
type LedgerRecord<Kind = string, Decision = StoredDecision, Receipt = JsonObject> = Omit<
  EffectRow<Kind, Decision, Receipt>,
  'run_id' | 'attempt_id'
>

/**
 * The ledger of one run's external effects: each step is committed when its promise resolves. The type parameters are
 * those of its user: kinds, decisions and receipts are stored and returned unchanged.
 */
export interface RunLedger<Kind = string, Decision = StoredDecision, Receipt = JsonObject> {
  intend(intent: EffectIntention<Kind>): Promise<LedgerRecord<Kind, Decision, Receipt>>
  decide(effectId: string, decision: Decision): Promise<LedgerRecord<Kind, Decision, Receipt>>
  sending(effectId: string): Promise<LedgerRecord<Kind, Decision, Receipt>>
  settle(effectId: string, outcome: EffectSettlement<Receipt>): Promise<LedgerRecord<Kind, Decision, Receipt>>
  list(): Promise<LedgerRecord<Kind, Decision, Receipt>[]>
}

/**
 * `newKey` generates unique keys: visible ASCII, at most 256 characters. Throws `ledger_unavailable` when the database
 * cannot be written (nothing may be sent then), `run_lost`, `effect_step_not_allowed` and `effect_not_found`.
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
      if (StoreError.is(error, ...DECIDED)) throw error
      throw new StoreError(
        'ledger_unavailable',
        'the effect ledger cannot be written: send nothing and try again when the database is back',
        {
          cause: error,
        },
      )
    }
  }
  return {
    intend: intent =>
      committed(tx => intendEffect(tx, scope, writer, { ...intent, effect_key: intent.effect_key ?? newKey() })),
    decide: (effectId, decision) => committed(tx => decideEffect(tx, scope, writer, effectId, decision)),
    sending: async effectId => {
      const record = await committed(tx => sendEffect(tx, scope, writer, effectId))
      if (record.state === 'sending') return record
      throw new StoreError(
        'effect_step_not_allowed',
        `the effect was allowed but is denied now (${record.decision?.reason}): do not send it`,
      )
    },
    settle: (effectId, outcome) => committed(tx => settleEffect(tx, scope, writer, effectId, outcome)),
    list: async () =>
      (await listEffects(database.within(scope), scope, writer.run_id)).map(row => recordOf(row) as Record),
  }
}

function recordOf({ run_id: _run, attempt_id: _attempt, ...record }: EffectRow): LedgerRecord {
  return record
}

const DECIDED = ['effect_step_not_allowed', 'effect_not_found', 'effect_key_taken', 'run_lost'] as const
