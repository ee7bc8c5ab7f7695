import type { Receipt } from '@parley/conversation'
import type { LegAnswer, LegRequest } from '@parley/flow'
import type { LegEvent } from '@parley/leg'

/** Serves the requests of one type on the leg of one call. */
export interface LegRequestHandler<Request extends LegRequest> {
  /** Every request gets one answer, unless the call ends first. `effectId`: its row in the ledger; null: it has none. */
  start(requestId: string, request: Request, effectId: string | null): void
  /** All events of the leg; the handler picks those that concern its requests. */
  onLeg(event: LegEvent): void
  /** The call is over: cancels timers. */
  stop?(): void
}

/** `receipt`: what the ledger stores of the request; null where it has no row. */
export type OnLegAnswer = (requestId: string, answer: LegAnswer, receipt: Receipt | null) => void
