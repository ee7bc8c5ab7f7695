import type { Instruction, ModelRef, NodeAnswer, NodeRequest } from '@parley/nodes'

/**
 * An input of the flow. An answer names its request; an answer to an outdated request (the caller spoke again, the flow moved
 * on) is ignored, except the result of an action, which always counts.
 */
export type FlowInput =
  /** The far end can hear the agent. Sent once, first. */
  | { readonly type: 'started' }
  /** The caller finished a turn; blank text is speech without words. It makes the agent's current speech outdated. */
  | { readonly type: 'user_turn'; readonly text: string }
  /** Digits that the caller entered, ended by limit, terminator or timeout; they count as a turn. Only `0-9 * #` are used. */
  | {
      readonly type: 'digits'
      readonly digits: string
      /** The question of `collect_digits` that they answer; another than the open one is ignored. Default: the open one. */
      readonly question?: number
    }
  /** The caller has been silent until the opening, a reminder or the end of the call is due. */
  /** `owed`: the agent owes the caller an answer, and nothing is under way. */
  | { readonly type: 'silence'; readonly kind: 'opening' | 'reminder' | 'limit' | 'owed' }
  | { readonly type: 'max_duration' }
  /** The caller and the agent do not understand each other: a transfer is taken where the flow has one. */
  | { readonly type: 'no_progress' }
  /**
   * A `say` or `prompt` was spoken to its end or interrupted by the caller. Sent exactly once for each, also when nothing could be spoken.
   * `unheard`: nothing of it was heard; default: some was.
   */
  | { readonly type: 'spoken'; readonly request_id: string; readonly interrupted: boolean; readonly unheard?: boolean }
  /** The model's choice for a `prompt` or `decide`; null: none of them. */
  | { readonly type: 'chosen'; readonly request_id: string; readonly choice_id: string | null }
  /** The model called one of the tools of its `prompt`. */
  | {
      readonly type: 'tool_call'
      readonly request_id: string
      readonly action_id: string
      readonly arguments: Readonly<Record<string, unknown>>
    }
  /** The result of a `run_action`; `body` is the parsed answer, used only where the action succeeded. */
  | {
      readonly type: 'action_result'
      readonly request_id: string
      readonly outcome: 'succeeded' | 'failed' | 'uncertain'
      readonly body?: unknown
    }
  /** The answer to a request of a node, or of an action that the model called. */
  | (NodeAnswer & { readonly request_id: string })
  /** What answered the call was detected: the value of `{{current_answered_by}}` from now on. */
  | { readonly type: 'answered_by'; readonly class: string }
  /** The conversation goes on in this language: the value of `{{current_language}}` from now on. */
  | { readonly type: 'language'; readonly language: string }
  /** A run update; its values win for the rest of the run. */
  | { readonly type: 'variables_updated'; readonly values: Readonly<Record<string, string>> }

/** One transition that the model may choose when `condition` holds. */
export interface Choice {
  readonly choice_id: string
  /** `flex`: any other node that converses, in flex mode. */
  readonly kind: 'edge' | 'global' | 'go_back' | 'flex'
  readonly condition: string
}

/** A tool the model may call in a `prompt`; `parameters` is a JSON Schema of an object. */
export interface ToolSpec {
  readonly action_id: string
  readonly name: string
  readonly description: string
  readonly parameters: Readonly<Record<string, unknown>>
}

export type PromptReason =
  | 'enter'
  | 'user_turn'
  | 'reminder'
  | 'reminder_again'
  | 'return'
  | 'tool_result'
  | 'during_execution'
  | 'stuck'

export type ActionRefusal = 'repeated' | 'too_many_in_turn' | 'too_many_in_call'

export type NodeCause = 'start' | 'edge' | 'global' | 'else' | 'failure' | 'return'

/** Turn-taking settings of a node: its own, else the agent's. */
export interface NodeTurnSettings {
  readonly interruption_sensitivity: number
  readonly responsiveness: number
  readonly voice_speed: number
  readonly reminder_trigger_ms: number
  readonly reminder_max_count: number
  readonly allow_dtmf_interruption: boolean
}

export type FlowOutcome = 'completed' | 'agent_hung_up' | 'transferred' | 'silence' | 'max_duration' | 'error'

/** An output of the flow, to be carried out in order. `node_id` is `component_id/node_id` inside a component. */
export type FlowOutput =
  | {
      readonly type: 'node'
      readonly node_id: string
      readonly from_node_id: string | null
      readonly edge_id: string | null
      readonly cause: NodeCause
      readonly settings: NodeTurnSettings
    }
  /** Speak the text word for word. Blank text counts as spoken at once. */
  | { readonly type: 'say'; readonly request_id: string; readonly node_id: string; readonly text: string }
  /** Ask the model to speak by `instruction`, to take one of `choices` instead, or to call `tools`. Replaces an earlier prompt. */
  | {
      readonly type: 'prompt'
      readonly request_id: string
      readonly node_id: string
      readonly reason: PromptReason
      readonly global_prompt: string
      readonly instruction: Instruction
      readonly choices: readonly Choice[]
      readonly tools: readonly ToolSpec[]
      /** These are the last words of an end node: no answer of the caller follows. */
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
      /** The flow waits for the result. */
      readonly waits: boolean
    }
  /**
   * An action was not run, because the model or the flow repeats itself: the same action with the same arguments, or too many
   * actions in this turn or call. `prompt_id`: of the prompt that called it; null: a node runs it.
   */
  | {
      readonly type: 'action_refused'
      readonly prompt_id: string | null
      readonly action_id: string
      readonly arguments: Readonly<Record<string, unknown>>
      readonly reason: ActionRefusal
    }
  /** A tool call of the prompt `prompt_id` is done; the model gets `result`. */
  | {
      readonly type: 'tool_result'
      readonly prompt_id: string
      readonly action_id: string
      readonly result: 'done' | 'failed'
    }
  /** A question is open from here on, which the caller may answer by digits. */
  | {
      readonly type: 'collect_digits'
      /** Counts the questions of the conversation. */
      readonly question: number
      /** The digits that the node's edges wait for; null: any. */
      readonly answers: readonly string[] | null
      readonly node_id: string
      readonly digit_limit: number | null
      readonly termination_key: string | null
      readonly timeout_ms: number
    }
  /** The caller speaks first. After `after_ms` of silence send `silence` of kind `opening`; null: never. */
  | { readonly type: 'await_opening'; readonly node_id: string; readonly after_ms: number | null }
  | {
      readonly type: 'variables'
      readonly source: 'inbound_context' | 'extract' | 'action' | 'update'
      readonly set: readonly string[]
      readonly ignored: readonly string[]
    }
  /** The last output. Where `ended_by` is `agent`, speeches that were output before are played to their end first. */
  | {
      readonly type: 'end'
      readonly node_id: string | null
      readonly outcome: FlowOutcome
      readonly ended_by: 'agent' | 'system'
      /** With `error`: why the flow could not go on. */
      readonly code: 'transition_limit' | 'tool_call_limit' | null
    }
