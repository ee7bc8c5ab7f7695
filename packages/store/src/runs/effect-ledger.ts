import type { Scope } from '@parley/contract'
import { StoreError } from '../errors.ts'
import type { Database, Queries } from '../protocol.ts'
import type { JsonObject } from '../schema-runs.ts'
import {
  type EffectRow,
  type EffectSettlement,
  type EffectStep,
  type EffectWriter,
  insertEffect,
  intendEffect,
  listEffects,
  type NewEffect,
  permission,
  policyDecision,
  type StoredDecision,
  sending,
  settlement,
  stepEffect,
  tryStep,
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
  /** `decide` and, if the effect is allowed, `sending`, as one step: it is sent next. Throws as `sending`. */
  permit(effectId: string, decision: Decision): Promise<LedgerRecord<Kind, Decision, Receipt>>
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
  /** `attempt`: one statement, in one round trip. It has changed nothing if it has no answer; then `work` does it or says why not. */
  const committed = async (
    attempt: (tx: Queries) => Promise<EffectRow | null>,
    work: (tx: Queries) => Promise<EffectRow>,
  ): Promise<Record> => {
    try {
      const row = (await database.transaction(scope, attempt, 'one-trip')) ?? (await database.transaction(scope, work))
      return recordOf(row) as Record
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
  const step = (effectId: string, of: EffectStep) =>
    committed(
      tx => tryStep(tx, scope, writer, effectId, of),
      tx => stepEffect(tx, scope, writer, effectId, of),
    )
  return {
    intend: intent => {
      const effect = { ...intent, effect_key: intent.effect_key ?? newKey() }
      return committed(
        tx => insertEffect(tx, scope, writer, effect),
        tx => intendEffect(tx, scope, writer, effect),
      )
    },
    decide: (effectId, decision) => step(effectId, policyDecision(decision)),
    sending: async effectId => sent(await step(effectId, sending())),
    permit: async (effectId, decision) => sent(await step(effectId, permission(decision))),
    settle: (effectId, outcome) => step(effectId, settlement(outcome)),
    list: async () =>
      (await listEffects(database.within(scope), scope, writer.run_id)).map(row => recordOf(row) as Record),
  }
}

/** Throws `effect_step_not_allowed` unless the effect is being sent. */
function sent<Kind extends string, Decision extends StoredDecision, Receipt extends JsonObject>(
  record: LedgerRecord<Kind, Decision, Receipt>,
): LedgerRecord<Kind, Decision, Receipt> {
  if (record.state === 'sending') return record
  throw new StoreError('effect_step_not_allowed', `the effect is denied (${record.decision?.reason}): do not send it`)
}

function recordOf({ run_id: _run, attempt_id: _attempt, ...record }: EffectRow): LedgerRecord {
  return record
}

const DECIDED = ['effect_step_not_allowed', 'effect_not_found', 'effect_key_taken', 'run_lost'] as const
