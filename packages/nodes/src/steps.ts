import type { EdgeSlot } from './parts/edge.ts'
import type { Instruction } from './parts/instruction.ts'
import type { NodeRequest } from './requests.ts'
import type { ModelRef } from './values/references.ts'

type Values = Readonly<Record<string, unknown>>

/** What a node or an action may read of the conversation. */
export interface ConversationView {
  readonly channel: 'phone' | 'web' | 'cloud'
  /** Replaces `{{variables}}` by their current values. */
  render(template: string): string
}

/** What a node does next; the flow interpreter carries it out. */
export type NodeStep =
  /** Sets `variables` and leaves the node by its edges. */
  | { readonly next: 'leave'; readonly variables?: Values }
  /** The node's task has failed: takes the edge in `slot` where it has a destination, else leaves the node by its other edges. */
  | { readonly next: 'fail'; readonly slot: Exclude<EdgeSlot, 'edges'>; readonly actionOutcome?: 'failed' }
  /** Takes the edge in `slot` where it has a destination, else leaves the node by its other edges. */
  | { readonly next: 'take'; readonly slot: Exclude<EdgeSlot, 'edges'> }
  /** Speaks by the node's instruction and waits for the caller. Only for node types that have `conversing`. */
  | { readonly next: 'converse' }
  /** Waits for the far end's next turn without speaking. */
  | { readonly next: 'listen' }
  /** Says `words` where there are any, then makes the request and waits for its answer, which the node type's `answer` takes. */
  | { readonly next: 'request'; readonly request: NodeRequest; readonly words?: Instruction | null }
  /**
   * Runs an action after the model has inferred its arguments, and says `words` meanwhile. With `waits` the node is
   * left when the result arrives, else when the words are spoken.
   */
  | {
      readonly next: 'run_action'
      /** Null: the node's own action. */
      readonly actionId: string | null
      readonly waits: boolean
      readonly words: Instruction | null
      readonly model: ModelRef | null
    }
  /** Enters the component. */
  | { readonly next: 'call_component'; readonly componentId: string }
  /** Says `words`, then ends the component and returns to the node that called it; in the main flow ends the conversation. */
  | { readonly next: 'return'; readonly words: Instruction | null }
  | { readonly next: 'end'; readonly outcome: 'completed' | 'transferred' }

/** What an action does next after the model called it as a tool. */
export type ToolStep =
  /** The call has no effect. */
  | { readonly next: 'ignore' }
  /** Sends the action, an HTTP action, with the arguments of the call. */
  | { readonly next: 'run_action' }
  /** Makes the request. The model gets `result` at once; null: it gets a result when the request is answered. */
  | { readonly next: 'request'; readonly request: NodeRequest; readonly result: 'done' | null }
  /** The call is done: sets `variables`, gives the model `result`, and lets the model speak on. */
  | { readonly next: 'result'; readonly result: 'done' | 'failed'; readonly variables?: Values }
  /** The request was answered, and the model speaks about the answer. */
  | { readonly next: 'speak'; readonly actionOutcome: 'failed' }
  /** The request was answered; the conversation waits for the far end's next turn. */
  | { readonly next: 'listen' }
  /** Says `words`, then hangs up. */
  | { readonly next: 'hang_up'; readonly words: Instruction | null }
  | { readonly next: 'end'; readonly outcome: 'transferred' }

export const LEAVE_NODE: NodeStep = { next: 'leave' }
