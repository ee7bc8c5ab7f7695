import { z } from 'zod'
import { json } from '../values/json.ts'
import { actionId, nodeId } from '../values/names.ts'
import { modelRef } from '../values/references.ts'
import { text } from '../values/text.ts'
import { variableItem } from './analysis-item.ts'
import { edge, edgeSlot, edges, goBackCondition } from './edge.ts'
import { instruction } from './instruction.ts'
import { transferFields } from './transfer.ts'

const examples = z.array(json).max(100).optional()

const globalNodeSetting = z
  .strictObject({
    condition: text(1, 4096),
    /** Turns after an entry in which this node is not entered again. */
    cool_down: z.int().min(0).max(100).nullable().default(null),
    go_back_conditions: z.array(goBackCondition).max(100).default([]),
    positive_finetune_examples: examples,
    negative_finetune_examples: examples,
  })
  .meta({ id: 'GlobalNodeSetting' })

const everyNode = {
  id: nodeId,
  name: text(0, 256).default(''),
  display_position: z.strictObject({ x: z.number(), y: z.number() }).nullable().default(null),
  global_node_setting: globalNodeSetting.nullable().default(null),
  model_choice: modelRef.nullable().default(null),
}

/** Null is the agent's setting. */
const conversing = {
  instruction,
  edges,
  always_edge: edgeSlot,
  skip_response_edge: edgeSlot,
  else_edge: edgeSlot,
  interruption_sensitivity: z.number().min(0).max(1).nullable().default(null),
  responsiveness: z.number().min(0).max(1).nullable().default(null),
  voice_speed: z.number().min(0.5).max(2).nullable().default(null),
  reminder_trigger_ms: z.int().min(0).max(3_600_000).nullable().default(null),
  reminder_max_count: z.int().min(0).max(100).nullable().default(null),
  allow_dtmf_interruption: z.boolean().nullable().default(null),
  knowledge_base_ids: z.array(text(1, 256)).max(100).nullable().optional(),
  finetune_conversation_examples: examples,
  finetune_transition_examples: examples,
}

const functionNode = z.strictObject({
  ...everyNode,
  type: z.literal('function'),
  tool_id: actionId,
  tool_type: z.enum(['local', 'shared']).optional(),
  wait_for_result: z.boolean().default(true),
  speak_during_execution: z.boolean().default(false),
  enable_typing_sound: z.boolean().optional(),
  instruction: instruction.nullable().default(null),
  edges,
  else_edge: edgeSlot,
})

const endNode = z.strictObject({
  ...everyNode,
  type: z.literal('end'),
  instruction: instruction.nullable().default(null),
  speak_during_execution: z.boolean().default(false),
})

const componentNode = z.strictObject({
  ...everyNode,
  type: z.literal('component'),
  component_id: nodeId,
  component_type: z.enum(['local', 'shared']).default('local'),
  edges,
  else_edge: edgeSlot,
})

/** Nodes that nothing runs yet are kept as written; their ways out are edges as everywhere. */
function keptNode<const Type extends string, Ways extends z.core.$ZodLooseShape>(type: Type, ways: Ways) {
  return z.object({ ...everyNode, type: z.literal(type), ...ways }).catchall(json)
}

/** One node of a flow, by its type. */
export const node = z
  .discriminatedUnion('type', [
    z.strictObject({ ...everyNode, type: z.literal('conversation'), ...conversing }),
    z.strictObject({
      ...everyNode,
      type: z.literal('subagent'),
      ...conversing,
      tool_ids: z.array(actionId).max(50).default([]),
    }),
    functionNode,
    z.strictObject({
      ...everyNode,
      type: z.literal('branch'),
      edges: z.array(edge).min(1).max(100),
      else_edge: edgeSlot,
    }),
    z.strictObject({
      ...everyNode,
      type: z.literal('extract_dynamic_variables'),
      variables: z.array(variableItem).min(1).max(50),
      edges,
      else_edge: edgeSlot,
    }),
    z.strictObject({
      ...everyNode,
      type: z.literal('press_digit'),
      instruction,
      delay_ms: z.int().min(0).max(10_000).default(1000),
      edges,
      else_edge: edgeSlot,
    }),
    z.strictObject({ ...everyNode, type: z.literal('transfer_call'), ...transferFields, edge: edgeSlot }),
    endNode,
    componentNode,
    keptNode('code', { edges, else_edge: edgeSlot }),
    keptNode('mcp', { edges, else_edge: edgeSlot }),
    keptNode('agent_swap', { edge: edgeSlot }),
    keptNode('sms', { success_edge: edgeSlot, failed_edge: edgeSlot }),
    keptNode('bridge_transfer', {}),
    keptNode('cancel_transfer', {}),
  ])
  .meta({ id: 'Node' })

export type FlowNode = z.output<typeof node>
