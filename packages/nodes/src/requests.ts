import type { VariableItem } from './parts/variable-item.ts'
import type { ModelRef } from './values/references.ts'

type JsonSchema = Readonly<Record<string, unknown>>

/** Something that a node, or an action called by the model, needs from outside the flow. The conversation serves each request by its type. */
export type NodeRequest =
  /** The model infers the arguments of an action, the digits to press or the number to transfer to. Answered by `inferred`. */
  | {
      readonly type: 'infer'
      readonly purpose: 'arguments' | 'digits' | 'transfer_destination'
      readonly prompt: string
      /** JSON Schema of the arguments; of a string for the other purposes. */
      readonly schema: JsonSchema
      /** Null: the agent's model. */
      readonly model: ModelRef | null
    }
  /** The model reads the variables out of the conversation. Answered by `inferred`. */
  | { readonly type: 'extract'; readonly variables: readonly VariableItem[]; readonly model: ModelRef | null }
  | LegRequest

/** The requests that the call leg serves, each when the words before it were heard. */
export type LegRequest =
  /** DTMF digits `0-9 * #` and `w`, a pause of 500 ms, sent after `delay_ms`. Answered by `digits_pressed`. */
  | { readonly type: 'press_digits'; readonly digits: string; readonly delay_ms: number }
  /** A cold transfer by REFER. Answered by `transfer_result`. */
  | {
      readonly type: 'transfer'
      readonly destination: string
      readonly custom_sip_headers: Readonly<Record<string, string>>
    }
  /** Another agent continues the call, in a run of its own. Answered by `transfer_result`. */
  | {
      readonly type: 'swap_agent'
      readonly agent_id: string
      /** Null: the agent's head. */
      readonly agent_version: number | null
      readonly keep_current_voice: boolean
      readonly keep_current_language: boolean
    }

/** The answer to a {@link NodeRequest}. */
export type NodeAnswer =
  /** Arguments or variables as an object, digits or a number as a string; null: the model gave no answer. */
  { readonly type: 'inferred'; readonly value: unknown } | LegAnswer

/** The answer to a {@link LegRequest}. */
export type LegAnswer =
  | { readonly type: 'digits_pressed' }
  | { readonly type: 'transfer_result'; readonly outcome: 'taken' | 'failed' }

/** The type of the answer to each request. */
export const ANSWER_TO = {
  infer: 'inferred',
  extract: 'inferred',
  press_digits: 'digits_pressed',
  transfer: 'transfer_result',
  swap_agent: 'transfer_result',
} as const satisfies Record<NodeRequest['type'], NodeAnswer['type']>

/** The answer to each request where there is no call leg, as in a text conversation. */
export const ANSWER_WITHOUT_LEG: {
  readonly [Type in LegRequest['type']]: LegAnswer & { readonly type: (typeof ANSWER_TO)[Type] }
} = {
  press_digits: { type: 'digits_pressed' },
  transfer: { type: 'transfer_result', outcome: 'failed' },
  swap_agent: { type: 'transfer_result', outcome: 'failed' },
}

export function isLegRequest<Output extends { readonly type: string }>(
  output: Output,
): output is Extract<Output, { readonly type: LegRequest['type'] }> {
  return Object.hasOwn(ANSWER_WITHOUT_LEG, output.type)
}
