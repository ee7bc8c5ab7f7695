import type { SwapRequest } from '../call-handler.ts'
import type { LegRequestHandler, OnLegAnswer } from './leg-request-handler.ts'

/** Hands a call to another agent: its run is admitted, and takes over when this conversation has ended. */
export class AgentSwap implements LegRequestHandler<SwapRequest> {
  readonly #swap: (request: SwapRequest, effectId: string) => Promise<string | null>
  readonly #onAnswer: OnLegAnswer

  /** `swap` resolves with the id of the run that continues the call; null: none does. */
  constructor(swap: (request: SwapRequest, effectId: string) => Promise<string | null>, onAnswer: OnLegAnswer) {
    this.#swap = swap
    this.#onAnswer = onAnswer
  }

  start(requestId: string, request: SwapRequest, effectId: string | null): void {
    void this.#swap(request, effectId ?? '').then(runId => {
      const receipt = runId === null ? null : ({ kind: 'transaction', table: 'runs', row_id: runId } as const)
      this.#onAnswer(requestId, { type: 'transfer_result', outcome: runId === null ? 'failed' : 'taken' }, receipt)
    })
  }

  onLeg(): void {}
}
