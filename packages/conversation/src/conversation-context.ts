import type { FlowInput, FlowInterpreter, FlowOutcome, FlowOutput } from '@parley/flow'
import type { ConversationOptions } from './conversation-options.ts'
import type { Memory } from './memory.ts'
import type { PendingModelRequests } from './pending-model-requests.ts'
import type { ConversationEvent } from './protocol.ts'
import type { SpeechQueue } from './speech-queue.ts'
import type { TimelineFact } from './timeline.ts'

/** What those who do a flow's will have in common. */
export interface ConversationContext {
  readonly options: ConversationOptions
  readonly flow: FlowInterpreter
  readonly memory: Memory
  readonly speeches: SpeechQueue
  readonly modelRequests: PendingModelRequests
  readonly emit: (event: ConversationEvent) => void
  readonly onFact: (fact: TimelineFact) => void
  /** In its turn. */
  readonly enqueue: (task: () => void) => void
  /** What the flow makes of an input. */
  readonly handle: (input: FlowInput) => readonly FlowOutput[]
  /** Does what the flow wants upon `cause`. */
  readonly perform: (outputs: readonly FlowOutput[], cause: FlowInput) => void
  /** False: the conversation is over, or about to be. */
  readonly isTalking: () => boolean
  readonly end: (outcome: FlowOutcome, endedBy: 'agent' | 'system', code: string | null) => void
}

export function feed({ handle, perform }: ConversationContext, input: FlowInput): void {
  perform(handle(input), input)
}

/** Says `text` word for word. `requestId`: the flow's `say`; null where it asked for nothing. */
export function speak({ speeches }: ConversationContext, requestId: string | null, nodeId: string, text: string): void {
  const speech = speeches.begin(requestId, nodeId, 'static')
  speeches.add(speech, text)
  speeches.complete(speech)
}
