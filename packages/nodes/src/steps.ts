import type { EdgeSlot } from './parts/edge.ts'
import type { Instruction } from './parts/instruction.ts'
import type { NodeRequest } from './requests.ts'
import type { ModelRef } from './values/references.ts'

type Values = Readonly<Record<string, unknown>>

/** What a node or an action may read of the conversation it is in. */
export interface ConversationView {
  readonly channel: 'phone' | 'web' | 'cloud'
  /** `{{variables}}` replaced by their values of now. */
  render(template: string): string
}

/** What a node does next. The flow interpreter carries it out. */
export type NodeStep =
  /** Sets `variables`, then tries the node's edges. */
  | { readonly next: 'leave'; readonly variables?: Values }
  /** What the node was for has failed: takes the edge in `slot` where it leads somewhere, else tries the node's edges. */
  | { readonly next: 'fail'; readonly slot: Exclude<EdgeSlot, 'edges'>; readonly actionOutcome?: 'failed' }
  /** Speaks by the node's instruction and waits for the caller. Only nodes that have `conversing`. */
  | { readonly next: 'converse' }
  /** Waits for the far end's next turn without speaking. */
  | { readonly next: 'listen' }
  | { readonly next: 'request'; readonly request: NodeRequest }
  /**
   * Runs an HTTP action, its open arguments filled in by the model. `words` are said meanwhile. With `waits` the node is
   * left when the result is there, else when the words are spoken.
   */
  | {
      readonly next: 'run_action'
      readonly actionId: string
      readonly waits: boolean
      readonly words: Instruction | null
      readonly model: ModelRef | null
    }
  /** Enters the component. */
  | { readonly next: 'call_component'; readonly componentId: string }
  /** Says `words`, then ends the component and returns to the node that called it; in the main flow ends the conversation. */
  | { readonly next: 'return'; readonly words: Instruction | null }
  | { readonly next: 'end'; readonly outcome: 'completed' | 'transferred' }

/** What an action does next that the model called as a tool. */
export type ToolStep =
  /** The call means nothing: nothing happens. */
  | { readonly next: 'ignore' }
  /** Runs the action itself, which is an HTTP action, with the arguments of the call. */
  | { readonly next: 'run_action' }
  /** `result`: what the model is told at once; null: the answer to the request tells. */
  | { readonly next: 'request'; readonly request: NodeRequest; readonly result: 'done' | null }
  /** The call is done: sets `variables`, tells the model `result`, and the model speaks on. */
  | { readonly next: 'result'; readonly result: 'done' | 'failed'; readonly variables?: Values }
  /** The request was answered, and the model speaks about it. */
  | { readonly next: 'speak'; readonly actionOutcome: 'failed' }
  /** The request was answered; waits for the far end's next turn. */
  | { readonly next: 'listen' }
  /** Says `words`, then hangs up. */
  | { readonly next: 'hang_up'; readonly words: Instruction | null }
  | { readonly next: 'end'; readonly outcome: 'transferred' }

export const LEAVE_NODE: NodeStep = { next: 'leave' }
