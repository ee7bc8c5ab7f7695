import type { LegRequest } from '@parley/flow'
import type { Time } from '@parley/kernel'
import type { LegEvent } from '@parley/leg'
import { CallTransfer } from './call-transfer.ts'
import { DigitPresser } from './digit-presser.ts'
import type { LegRequestHandler, OnLegAnswer } from './leg-request-handler.ts'
import type { ConversationLeg } from './logged-call.ts'
import type { TransferRules } from './voice-agent.ts'

type RequestByType = { readonly [Request in LegRequest as Request['type']]: Request }
type Handlers = { readonly [Type in LegRequest['type']]: LegRequestHandler<RequestByType[Type]> }

/** What the flow requests of the call leg: passes each request to the handler of its type. */
export class LegRequests {
  readonly #handlers: Handlers

  constructor(leg: ConversationLeg, time: Time, transfers: TransferRules | undefined, onAnswer: OnLegAnswer) {
    this.#handlers = {
      press_digits: new DigitPresser(leg, time, onAnswer),
      transfer: new CallTransfer(leg, transfers, onAnswer),
    }
  }

  start<Type extends LegRequest['type']>(requestId: string, type: Type, request: RequestByType[Type]): void {
    this.#handlers[type].start(requestId, request)
  }

  onLeg(event: LegEvent): void {
    for (const handler of Object.values(this.#handlers)) handler.onLeg(event)
  }

  stop(): void {
    for (const handler of Object.values(this.#handlers)) handler.stop?.()
  }
}
