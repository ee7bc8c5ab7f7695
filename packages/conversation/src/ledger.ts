/**
 * The port of the effect ledger (invariant 3): every external effect is recorded before it is sent, then decided by policy,
 * then settled with its outcome. Runs store it in the database; trials and tests use `InMemoryEffectLedger`.
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
  /** `resource_id`: the id of a room that was created, the name of one that was deleted. */
  | { readonly kind: 'rtc_room'; readonly resource_id: string }
  | { readonly kind: 'gateway_inference'; readonly attempt_id: string; readonly measurement_id: string | null }
  /** What the effect wrote: the run that continues a call. */
  | { readonly kind: 'transaction'; readonly table: string; readonly row_id: string }

/** An effect that is about to be sent. */
export interface EffectIntent {
  readonly kind: EffectKind
  readonly action: { readonly id: string; readonly version: number }
  readonly node_id: string | null
  /** Number of earlier uses of the action in its node; null for effects outside nodes. */
  readonly ordinal: number | null
}

/** One row, as in the effects resource of the API. */
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

/** A step out of order throws `effect_step_not_allowed` and changes nothing; an unknown id throws `effect_not_found`. */
export interface EffectLedger {
  /** Records the effect. Throws `ParleyError` "ledger_unavailable", and then nothing may be sent. */
  intend(intent: EffectIntent): Promise<EffectRecord>
  /**
   * Records the policy decision. "deny" settles the effect as `failed` with `policy_denied`, "unavailable" as `failed` with
   * `policy_unavailable`. The ledger may deny an "allow" for reasons of its own (a revoked key); the returned record decides.
   */
  decide(effectId: string, decision: PolicyDecision): Promise<EffectRecord>
  /** Called before each send. `http`, `sip_dial`, `sip_transfer` and `run_admission` need an "allow" decision first. */
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
