import type { Instruction, ModelRef, NodeAnswer, NodeRequest } from '@parley/nodes'

/**
 * What happens to a flow. Answers name the request they belong to; one that was overtaken (the caller spoke again, the
 * flow moved on) is ignored, except results of actions, which are never lost.
 */
export type FlowInput =
  /** The far end can hear the agent. Once. */
  | { readonly type: 'started' }
  /** The caller finished a turn; blank text is speech without words. It overtakes what the agent was saying. */
  | { readonly type: 'user_turn'; readonly text: string }
  /** Digits the caller entered, complete by limit, terminator or timeout; a turn of theirs. Only `0-9 * #` count. */
  | { readonly type: 'digits'; readonly digits: string }
  /** The caller was silent: before an opening of theirs, up to a reminder, up to the end of the call. */
  | { readonly type: 'silence'; readonly kind: 'opening' | 'reminder' | 'limit' }
  | { readonly type: 'max_duration' }
  /** A `say` or `prompt` was spoken to its end, or cut by the caller. Every one gets this once, also when nothing could be spoken. */
  | { readonly type: 'spoken'; readonly request_id: string; readonly interrupted: boolean }
  /** The model's choice for a `prompt` or `decide`; null: none of them. */
  | { readonly type: 'chosen'; readonly request_id: string; readonly choice_id: string | null }
  /** The model called one of the tools of its `prompt`. */
  | {
      readonly type: 'tool_call'
      readonly request_id: string
      readonly action_id: string
      readonly arguments: Readonly<Record<string, unknown>>
    }
  /** What became of a `run_action`; `body` is the parsed answer, used where it succeeded. */
  | {
      readonly type: 'action_result'
      readonly request_id: string
      readonly outcome: 'succeeded' | 'failed' | 'uncertain'
      readonly body?: unknown
    }
  /** The answer to a request of a node, or of an action that the model called. */
  | (NodeAnswer & { readonly request_id: string })
  /** A run update: holds for the rest of the run. */
  | { readonly type: 'variables_updated'; readonly values: Readonly<Record<string, string>> }

/** One way on that the model may choose: `condition` says when. */
export interface Choice {
  readonly choice_id: string
  readonly kind: 'edge' | 'global' | 'go_back'
  readonly condition: string
}

/** A tool the model may call in a `prompt`; `parameters` is a JSON Schema of an object. */
export interface ToolSpec {
  readonly action_id: string
  readonly name: string
  readonly description: string
  readonly parameters: Readonly<Record<string, unknown>>
}

export type PromptReason = 'enter' | 'user_turn' | 'reminder' | 'return' | 'tool_result' | 'during_execution' | 'stuck'

export type NodeCause = 'start' | 'edge' | 'global' | 'else' | 'failure' | 'return'

/** Turn-taking in this node: its own settings, else the agent's. */
export interface NodeTurnSettings {
  readonly interruption_sensitivity: number
  readonly responsiveness: number
  readonly voice_speed: number
  readonly reminder_trigger_ms: number
  readonly reminder_max_count: number
  readonly allow_dtmf_interruption: boolean
}

export type FlowOutcome = 'completed' | 'agent_hung_up' | 'transferred' | 'silence' | 'max_duration' | 'error'

/** What a flow wants done, in this order. `node_id` is `component_id/node_id` inside a component. */
export type FlowOutput =
  | {
      readonly type: 'node'
      readonly node_id: string
      readonly from_node_id: string | null
      readonly edge_id: string | null
      readonly cause: NodeCause
      readonly settings: NodeTurnSettings
    }
  /** Speak this, word for word. Blank text counts as spoken at once. */
  | { readonly type: 'say'; readonly request_id: string; readonly node_id: string; readonly text: string }
  /** Ask the model to speak by `instruction`, or to take one of `choices` instead, or to call `tools`. Overtakes an earlier prompt. */
  | {
      readonly type: 'prompt'
      readonly request_id: string
      readonly node_id: string
      readonly reason: PromptReason
      readonly global_prompt: string
      readonly instruction: Instruction
      readonly choices: readonly Choice[]
      readonly tools: readonly ToolSpec[]
      /** The last words of an end node: the caller waits for no answer. */
      readonly isLast: boolean
      readonly model: ModelRef | null
    }
  /** Ask the model for one of `choices` or none, without speaking. */
  | {
      readonly type: 'decide'
      readonly request_id: string
      readonly node_id: string
      readonly choices: readonly Choice[]
      readonly model: ModelRef | null
    }
  /** A request of the node, or of the action `action_id` that the model called. */
  | (NodeRequest & { readonly request_id: string; readonly node_id: string; readonly action_id: string | null })
  /** `ordinal` counts the action's uses in its node from 0. */
  | {
      readonly type: 'run_action'
      readonly request_id: string
      readonly node_id: string
      readonly action_id: string
      readonly ordinal: number
      readonly arguments: Readonly<Record<string, unknown>>
      readonly invocation: 'flow_node' | 'model_tool'
      /** The flow goes on with the result. */
      readonly waits: boolean
    }
  /** The call of a tool of the prompt `prompt_id` is done, and the model is told `result`. */
  | {
      readonly type: 'tool_result'
      readonly prompt_id: string
      readonly action_id: string
      readonly result: 'done' | 'failed'
    }
  /** The caller may enter digits from here on. */
  | {
      readonly type: 'collect_digits'
      readonly node_id: string
      readonly digit_limit: number | null
      readonly termination_key: string | null
      readonly timeout_ms: number
    }
  /** The caller opens. After `after_ms` of silence send `silence` of kind `opening`; null: wait for ever. */
  | { readonly type: 'await_opening'; readonly node_id: string; readonly after_ms: number | null }
  | {
      readonly type: 'variables'
      readonly source: 'inbound_context' | 'extract' | 'action' | 'update'
      readonly set: readonly string[]
      readonly ignored: readonly string[]
    }
  /** Nothing comes after this. What was asked to be spoken is to be heard out first where `ended_by` is `agent`. */
  | {
      readonly type: 'end'
      readonly node_id: string | null
      readonly outcome: FlowOutcome
      readonly ended_by: 'agent' | 'system'
      /** With `error`: why the flow could not go on. */
      readonly code: 'transition_limit' | 'tool_call_limit' | null
    }
