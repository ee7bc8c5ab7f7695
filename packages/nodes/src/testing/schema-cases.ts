import type { z } from 'zod'
import type { ConversationView } from '../steps.ts'
import {
  atLeast,
  boolean,
  type FieldCases,
  identifier,
  integer,
  list,
  mismatches,
  nullable,
  number,
  object,
  oneOf,
  optional,
  pattern,
  text,
  variations,
} from './field-cases.ts'

type Cases = Readonly<Record<string, FieldCases>>

const id63 = pattern(['a', 'x'.repeat(63)], ['', 'a/b', 'a\nb', 'x'.repeat(64)])
const plainEdge = { id: 'e', transition_condition: { type: 'prompt', prompt: 'Always' } }
const json = (max: number) => optional(list(0, max, { valid: [{ any: [1] }], invalid: ['a\0'], optional: false }))

/** A field whose own bounds another test shows: one valid value. */
export function like(value: unknown): FieldCases {
  return { valid: [value], invalid: ['x', 7, []], optional: false }
}

export const nodeIdCases = id63
/** A list of at most 100 edges. */
export const edgesCases = optional(list(0, 100, like(plainEdge)))
/** One edge or null. */
export const slotCases = optional(nullable(like(plainEdge)))
export const instructionCases = like({ type: 'prompt', text: 'Say hello' })
const examplesCases = json(100)

const NODE_CASES: Cases = {
  id: id63,
  name: optional(text(0, 256)),
  display_position: optional(nullable({ ...like({ x: 0, y: -1.5 }), invalid: [{ x: 0 }, { x: 0, y: 'a' }, 'x'] })),
  model_choice: optional(nullable(like({ model: { model_id: 'm', provider: 'p', tier: 'frontier' } }))),
  global_node_setting: optional(
    nullable(
      object(
        { condition: 'asks for a human' },
        {
          condition: text(1, 4096),
          cool_down: optional(nullable(integer(0, 100))),
          go_back_conditions: optional(list(0, 100, like(plainEdge))),
          positive_finetune_examples: examplesCases,
          negative_finetune_examples: examplesCases,
        },
      ),
    ),
  ),
}

/** Examples of transitions, stored unchanged. */
export const transitionExamplesCases: Cases = { finetune_transition_examples: examplesCases }

/** The members of nodes that converse about the actions that they offer. */
export const toolCases: Cases = {
  tool_ids: optional(list(0, 50, identifier(128))),
  enable_typing_sound: optional(boolean),
}

export const conversingCases: Cases = {
  instruction: instructionCases,
  edges: edgesCases,
  always_edge: slotCases,
  skip_response_edge: slotCases,
  else_edge: slotCases,
  interruption_sensitivity: optional(nullable(number(0, 1))),
  responsiveness: optional(nullable(number(0, 1))),
  voice_speed: optional(nullable(number(0.5, 2))),
  reminder_trigger_ms: optional(nullable(integer(0, 3_600_000))),
  reminder_max_count: optional(nullable(integer(0, 100))),
  allow_dtmf_interruption: optional(nullable(boolean)),
  user_dtmf_options: optional(
    nullable(
      object(
        {},
        {
          digit_limit: optional(nullable(integer(1, 100))),
          termination_key: optional(nullable(pattern(['0', '9', '*', '#'], ['', 'A', '10']))),
          timeout_ms: optional(integer(1, 60_000)),
        },
      ),
    ),
  ),
  holding_line: optional(nullable(text(1, 200))),
  knowledge_base_ids: optional(nullable(list(0, 100, text(1, 256)))),
  finetune_conversation_examples: examplesCases,
  finetune_transition_examples: examplesCases,
}

/** What the model says beside the call of an action. */
export const executionMessageCases: Cases = {
  speak_during_execution: optional(boolean),
  execution_message_description: optional(text(0, 4096)),
  execution_message_type: optional(oneOf('prompt', 'static_text')),
}

const predefined = object(
  { type: 'predefined', number: '+15551234567' },
  { number: text(1, 256), extension: optional(nullable(text(0, 64))) },
)
const inferred = object({ type: 'inferred', prompt: 'whom they ask for' }, { prompt: text(1, 4096) })

export const transferCases: Cases = {
  transfer_destination: {
    valid: [...predefined.valid, ...inferred.valid],
    invalid: [...predefined.invalid, ...inferred.invalid, { type: 'other' }],
    optional: false,
  },
  transfer_option: optional(
    object(
      { type: 'cold_transfer', cold_transfer_mode: 'sip_refer' },
      {
        cold_transfer_mode: optional(oneOf('sip_refer', 'sip_invite')),
        show_transferee_as_caller: optional(boolean),
        transfer_ring_duration_ms: optional(integer(1000, 300_000)),
      },
    ),
  ),
  custom_sip_headers: optional({
    valid: [{}, { 'X-Case': '7' }, { 'x-case': 'y'.repeat(1024) }],
    invalid: [{ Case: '7' }, { 'X-': '7' }, { 'X-A B': '7' }, { 'X-Case': 7 }, { 'X-Case': 'y'.repeat(1025) }],
    optional: false,
  }),
}

/** A JSON value that the API does not interpret. */
export const jsonCases = optional({ valid: [1, 'x', null, { any: [1] }], invalid: ['a\0'], optional: false })

export const responseVariablesCases: Cases = {
  response_variables: optional({
    valid: [{}, { total: '$.n' }],
    invalid: [{ total: '' }, { 'a}': '$.n' }, { total: 1 }],
    optional: false,
  }),
}

/** The fields of actions with a result. */
export const resultCases: Cases = {
  ...executionMessageCases,
  ...responseVariablesCases,
  speak_after_execution: optional(boolean),
  enable_typing_sound: optional(boolean),
}

/** The fields of nodes that do something when they are entered. */
export const effectNodeCases: Cases = {
  wait_for_result: optional(boolean),
  speak_during_execution: optional(boolean),
  instruction: optional(nullable(instructionCases)),
  enable_typing_sound: optional(boolean),
  edges: edgesCases,
  else_edge: slotCases,
  ...transitionExamplesCases,
}

const ACTION_CASES: Cases = {
  action_id: identifier(128),
  version: optional(atLeast(1)),
  name: pattern(['_', 'a', 'look_up-2', 'a'.repeat(64)], ['', '2a', '-a', 'a b', 'a.b', 'a'.repeat(65), 'a\n']),
  description: optional(text(0, 1024)),
  channels: optional({
    valid: [['cloud'], ['phone', 'web', 'cloud']],
    invalid: [[], ['control'], ['cloud', 'cloud'], ['cloud', 'phone', 'web', 'cloud'], 'cloud'],
    optional: false,
  }),
}

interface Described {
  readonly schema: z.ZodObject
}

/** What the schema of a node type judges wrongly: lines such as `delay_ms: 10001 must be refused`; and refusals that name another field. */
export function nodeSchemaFaults(
  type: Described & { readonly type: string },
  valid: Readonly<Record<string, unknown>>,
  fields: Cases,
): string[] {
  return schemaFaults(type, { id: 'n', type: type.type, ...valid }, { ...NODE_CASES, ...fields })
}

/** The same of the schema of a kind of action. */
export function actionSchemaFaults(
  kind: Described & { readonly kind: string },
  valid: Readonly<Record<string, unknown>>,
  fields: Cases,
): string[] {
  return schemaFaults(kind, { action_id: 'a', name: 'a', kind: kind.kind, ...valid }, { ...ACTION_CASES, ...fields })
}

function schemaFaults({ schema }: Described, valid: Record<string, unknown>, fields: Cases): string[] {
  const isOpen = schema.def.catchall?._zod.def.type === 'unknown'
  const all = variations(valid, fields).filter(({ member }) => !isOpen || member !== 'unknown_member')
  const misnamed = all.flatMap(({ title, member, value, isValid }) => {
    const issue = schema.safeParse(value).error?.issues[0]
    if (isValid || issue === undefined) return []
    const [named = issue.code === 'unrecognized_keys' ? issue.keys[0] : undefined] = issue.path
    return named === member ? [] : [`${title} is refused for ${String(named)}`]
  })
  return [...mismatches(all, value => schema.safeParse(value).success), ...misnamed]
}

/** A conversation on `channel` whose templates take `values`. */
export function viewOn(
  channel: ConversationView['channel'],
  values: Readonly<Record<string, string>> = {},
): ConversationView {
  return { channel, render: template => template.replace(/\{\{(\w+)\}\}/g, (_, name: string) => values[name] ?? '') }
}

/** A draft with these actions, kind by id, and components. */
export function draftWith(kinds: Readonly<Record<string, string>>, components: readonly string[] = []) {
  return {
    actionKind: (actionId: string) => (Object.hasOwn(kinds, actionId) ? kinds[actionId] : undefined),
    hasComponent: (componentId: string) => components.includes(componentId),
    hasMcpServer: () => true,
    sendsSms: true,
  }
}
