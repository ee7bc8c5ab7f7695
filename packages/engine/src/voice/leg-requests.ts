import type { SwapAgent } from '@parley/conversation'
import type { LegRequest } from '@parley/flow'
import type { Time } from '@parley/kernel'
import type { LegEvent } from '@parley/leg'
import { AgentSwap } from './agent-swap.ts'
import { CallTransfer } from './call-transfer.ts'
import { DigitPresser } from './digit-presser.ts'
import type { LegRequestHandler, OnLegAnswer } from './leg-request-handler.ts'
import type { ConversationLeg } from './logged-call.ts'
import type { TransferRules } from './voice-agent.ts'

type RequestByType = { readonly [Request in LegRequest as Request['type']]: Request }
type Handlers = { readonly [Type in LegRequest['type']]: LegRequestHandler<RequestByType[Type]> }

interface LegRequestsOptions {
  readonly leg: ConversationLeg
  readonly time: Time
  readonly transfers: TransferRules | undefined
  /** Hands the call to another agent; resolves with the id of its run, null: none can take it. */
  readonly swap: SwapAgent
  readonly onAnswer: OnLegAnswer
}

/** What the flow requests of the call leg: passes each request to the handler of its type. */
export class LegRequests {
  readonly #handlers: Handlers

  constructor({ leg, time, transfers, swap, onAnswer }: LegRequestsOptions) {
    this.#handlers = {
      press_digits: new DigitPresser(leg, time, onAnswer),
      transfer: new CallTransfer(leg, transfers, onAnswer),
      swap_agent: new AgentSwap(swap, onAnswer),
    }
  }

  /** `effectId`: the row of the request in the ledger; null: it has none. */
  start<Type extends LegRequest['type']>(
    requestId: string,
    type: Type,
    request: RequestByType[Type],
    effectId: string | null,
  ): void {
    this.#handlers[type].start(requestId, request, effectId)
  }

  onLeg(event: LegEvent): void {
    for (const handler of Object.values(this.#handlers)) handler.onLeg(event)
  }

  stop(): void {
    for (const handler of Object.values(this.#handlers)) handler.stop?.()
  }
}
