import type { Scope } from '@parley/contract'
import type { ModelRef, Plan } from '@parley/flow'
import type { LanguageModel } from '@parley/providers'
import type { JsonObject } from '@parley/store'

/** The far end's answer to a BYE or CANCEL. */
export interface FarEndReply {
  /** The far end answered with a final status, so the call is over there. */
  readonly confirmed: boolean
  /** Final SIP status; null without one. */
  readonly status: number | null
  /** One sentence for people. */
  readonly detail: string
}

/** Ends calls of processes that died. The arguments are what `storeDialog` and `storeDial` stored; neither method rejects. */
export interface FarEnd {
  /** Hangs up an answered call. */
  bye(dialog: JsonObject): Promise<FarEndReply>
  /** Cancels an INVITE that, as far as stored, was not answered. */
  cancel(dial: JsonObject): Promise<FarEndReply>
}

/** The rooms of web calls by LiveKit. */
export interface RoomServer {
  /** Deletes the run's room; returns its name. Throws a `ParleyError`: "room_refused" after a refusal, another without an answer. */
  deleteRoom(runId: string): Promise<string>
}

/** The publication for which a model is requested. */
export interface ModelUse {
  readonly scope: Scope
  readonly agent_id: string
  readonly version: number
  readonly plan: Plan
}

/** The model of a reference, or the agent's own if it is null. Throws a `ParleyError` with the reason if it is not available. */
export type AnalysisModels = (ref: ModelRef | null, use: ModelUse) => LanguageModel | Promise<LanguageModel>

/** Receives failures of the platform itself; `error` is null when the work succeeds again. */
export type JobLog = (what: string, error: unknown) => void
