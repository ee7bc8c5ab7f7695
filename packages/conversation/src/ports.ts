import type { HttpAction } from '@parley/flow'
import type { Ms } from '@parley/kernel'

/** Which conversation it is, as actions tell the servers they call. */
export interface CallFacts {
  readonly run_id: string | null
  readonly agent_id: string | null
  readonly agent_version: number | null
  readonly channel: 'phone' | 'web' | 'cloud'
  /** E.164; null off the phone. */
  readonly from_number: string | null
  readonly to_number: string | null
}

/** One use of an action. */
export interface ActionRequest {
  readonly action: HttpAction
  /** Complete: inferred ones and constants. */
  readonly arguments: Readonly<Record<string, unknown>>
  /** Null: no node's. */
  readonly node_id: string | null
  /** Uses of the action in its node, from 0. */
  readonly ordinal: number
  readonly call: CallFacts
  /** `{{variables}}` of the action's URL, headers and query filled in with their values of now; the values are not encoded. */
  readonly render: (text: string) => string
  /** Told once, when the ledger has the row. */
  readonly onPhase: (phase: ActionPhase) => void
}

export interface ActionPhase {
  readonly phase: 'started'
  readonly effect_id: string
}

export interface ActionOutcome {
  readonly outcome: 'succeeded' | 'failed' | 'uncertain'
  /** The parsed answer (JSON, else its text), also of a failure; null where there is none. */
  readonly body: unknown
  /** Empty where the ledger could not be written. */
  readonly effect_id: string
  readonly error_code: string | null
  readonly durationMs: Ms
}

/** Runs HTTP actions by the rules of effects: nothing without a row in the ledger, nothing sent twice that must not be. */
export interface ActionRunner {
  /** Never rejects. An abort keeps back what was not sent; what was sent goes on to its end. */
  run(request: ActionRequest, signal: AbortSignal): Promise<ActionOutcome>
}
