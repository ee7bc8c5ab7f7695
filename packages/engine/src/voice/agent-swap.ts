import { type SwapAgent, type SwapRequest, swapAnswer } from '@parley/conversation'
import type { LegRequestHandler, OnLegAnswer } from './leg-request-handler.ts'

/** Hands a call to another agent: its run is admitted, and takes over when this conversation has ended. */
export class AgentSwap implements LegRequestHandler<SwapRequest> {
  readonly #swap: SwapAgent
  readonly #onAnswer: OnLegAnswer

  constructor(swap: SwapAgent, onAnswer: OnLegAnswer) {
    this.#swap = swap
    this.#onAnswer = onAnswer
  }

  start(requestId: string, request: SwapRequest, effectId: string | null): void {
    void this.#swap(request, effectId ?? '').then(runId => {
      const { answer, receipt } = swapAnswer(runId)
      this.#onAnswer(requestId, answer, receipt)
    })
  }

  onLeg(): void {}
}
