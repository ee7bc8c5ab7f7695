import type { CallerLanguage } from '@parley/dialogue'
import type { FlowInput, FlowInterpreter, FlowOutcome, FlowOutput } from '@parley/flow'
import type { ConversationOptions } from './conversation-options.ts'
import type { Memory } from './memory.ts'
import type { PendingModelRequests } from './pending-model-requests.ts'
import type { ConversationEvent } from './protocol.ts'
import type { SpeechQueue } from './speech-queue.ts'
import type { TimelineFact } from './timeline.ts'
import type { UnfinishedTurn } from './unfinished-turn.ts'

/** The state and functions that the parts of a conversation share. */
export interface ConversationContext {
  readonly options: ConversationOptions
  readonly flow: FlowInterpreter
  readonly memory: Memory
  /** The language that the agent speaks now. */
  readonly language: CallerLanguage
  readonly speeches: SpeechQueue
  readonly modelRequests: PendingModelRequests
  readonly unfinishedTurn: UnfinishedTurn
  readonly emit: (event: ConversationEvent) => void
  readonly onFact: (fact: TimelineFact) => void
  /** The flow has entered a node. */
  readonly onNode: () => void
  /** Runs the task after those that were enqueued before. */
  readonly enqueue: (task: () => void) => void
  /** Gives the flow an input and returns its outputs, which are not carried out yet. */
  readonly handle: (input: FlowInput) => readonly FlowOutput[]
  /** Carries out the outputs that `cause` produced. */
  readonly perform: (outputs: readonly FlowOutput[], cause: FlowInput) => void
  /** False once the flow has ended, even while last words are still spoken. */
  readonly isTalking: () => boolean
  /** Nothing more is recorded: the conversation has ended, or the far end has hung up. */
  readonly isOver: () => boolean
  readonly end: (outcome: FlowOutcome, endedBy: 'agent' | 'system', code: string | null) => void
}

/** Gives the flow an input and carries out its outputs. */
export function feed({ handle, perform }: ConversationContext, input: FlowInput): void {
  perform(handle(input), input)
}

/** Says `text` word for word. `requestId` is that of the flow's `say`; null for words that the flow did not request. */
export function speak(
  { speeches }: ConversationContext,
  requestId: string | null,
  nodeId: string | null,
  text: string,
): void {
  const speech = speeches.begin(requestId, nodeId, 'static')
  speeches.add(speech, text)
  speeches.complete(speech)
}
