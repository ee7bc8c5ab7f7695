/**
 * The ledger of outside effects (invariant 3): a row before anything is sent, a verdict, what came of it. The port is
 * declared here, beside its user; runs keep theirs in the database, trials and this process's memory in `InMemoryEffectLedger`.
 */

export type EffectKind =
  | 'none'
  | 'gateway_inference'
  | 'http'
  | 'rtc_room'
  | 'sip_dial'
  | 'sip_transfer'
  | 'sip_hangup'
  | 'run_admission'

type EffectState = 'intended' | 'sending' | 'succeeded' | 'failed' | 'uncertain'

export type PolicyReason =
  | 'destination_not_allowed'
  | 'daily_call_limit'
  | 'key_revoked'
  | 'key_cannot_dial'
  | 'address_not_allowed'
  | 'secret_missing'
  | 'run_not_active'

export interface PolicyDecision {
  readonly decision: 'allow' | 'deny' | 'unavailable'
  readonly reason: PolicyReason | null
  readonly policy_version: string
}

export type Receipt =
  | {
      readonly kind: 'http'
      readonly status: number
      readonly response_sha256: string | null
      readonly response_bytes: number
      readonly duration_ms: number
      readonly send_attempt: number
    }
  | {
      readonly kind: 'sip_transfer'
      readonly refer_status: number | null
      readonly final_sip_status: number | null
      readonly disconnect_reason: string | null
    }
  | { readonly kind: 'sip_dial'; readonly participant_id: string; readonly sip_call_id: string | null }
  /** `confirmed`: the far end answered the BYE or CANCEL. */
  | { readonly kind: 'sip_hangup'; readonly sip_status: number | null; readonly confirmed: boolean }
  | { readonly kind: 'gateway_inference'; readonly attempt_id: string; readonly measurement_id: string | null }

/** What is about to be done. */
export interface EffectIntent {
  readonly kind: EffectKind
  readonly action: { readonly id: string; readonly version: number }
  readonly node_id: string | null
  /** Uses of the action in its node, from 0; null where that means nothing. */
  readonly ordinal: number | null
}

/** As in the effects resource. */
export interface EffectRecord {
  readonly effect_id: string
  readonly effect_key: string
  readonly action: { readonly id: string; readonly version: number }
  readonly effect_kind: EffectKind
  readonly node_id: string | null
  readonly ordinal: number | null
  readonly state: EffectState
  readonly decision: PolicyDecision | null
  readonly send_attempts: number
  readonly receipts: readonly Receipt[]
  readonly error_code: string | null
  /** ISO times. */
  readonly created_at: string
  readonly settled_at: string | null
}

/** A step out of order throws `effect_step_not_allowed` and changes nothing, an unknown id `effect_not_found`. */
export interface EffectLedger {
  /** Writes the row. Throws `ParleyError` "ledger_unavailable": then nothing may be sent. */
  intend(intent: EffectIntent): Promise<EffectRecord>
  /**
   * Puts the verdict into the row. A denied one is settled with it: `failed`, `policy_denied`; one without a verdict
   * (`unavailable`) too: `failed`, `policy_unavailable`. The ledger may turn an "allow" down for reasons of its own (a
   * revoked key); what counts is the record that is answered.
   */
  decide(effectId: string, decision: PolicyDecision): Promise<EffectRecord>
  /** Before each send; `sending` from the first on. `http`, `sip_dial`, `sip_transfer`, `run_admission` need a verdict. */
  sending(effectId: string): Promise<EffectRecord>
  settle(
    effectId: string,
    outcome: {
      readonly state: 'succeeded' | 'failed' | 'uncertain'
      readonly receipts?: readonly Receipt[]
      readonly error_code?: string | null
    },
  ): Promise<EffectRecord>
}
