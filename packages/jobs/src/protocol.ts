import type { Scope } from '@parley/contract'
import type { ModelRef, Plan } from '@parley/flow'
import type { LanguageModel } from '@parley/providers'
import type { JsonObject } from '@parley/store'

/** What the far end of a call said to its end. */
export interface FarEndReply {
  /** There is no call any more: it was answered, whatever the answer. */
  readonly confirmed: boolean
  /** Final SIP status; null without one. */
  readonly status: number | null
  /** One sentence for people. */
  readonly detail: string
}

/** Ends calls that other processes had. Both take what `storeDialog` and `storeDial` kept, and never reject. */
export interface FarEnd {
  /** Hangs up an answered call. */
  bye(dialog: JsonObject): Promise<FarEndReply>
  /** Takes back an INVITE that was not answered as far as is known. */
  cancel(dial: JsonObject): Promise<FarEndReply>
}

/** Whose model is asked for. */
export interface ModelUse {
  readonly scope: Scope
  readonly agent_id: string
  readonly version: number
  readonly plan: Plan
}

/** The model of that name, null: the agent's own. May throw `ParleyError` that says why there is none. */
export type AnalysisModels = (ref: ModelRef | null, use: ModelUse) => LanguageModel | Promise<LanguageModel>

/** What goes wrong and is nobody's fault outside; `error` is null where it works again. */
export type JobLog = (what: string, error: unknown) => void
