import { z } from 'zod'
import { variableItem } from './analysis-item.ts'
import { edge, edgeSlot, edges, goBackCondition } from './edge.ts'
import { instruction } from './instruction.ts'
import { identifier, nodeId, text } from './names.ts'
import { modelRef } from './references.ts'
import { transferFields } from './transfer.ts'

const examples = z.array(z.json()).max(100).optional()

const globalNodeSetting = z.strictObject({
  condition: text(1, 4096),
  /** Turns of the caller after an entry in which this node is not entered again. */
  cool_down: z.int().min(0).max(100).nullable().default(null),
  go_back_conditions: z.array(goBackCondition).max(100).default([]),
  positive_finetune_examples: examples,
  negative_finetune_examples: examples,
})

const everyNode = {
  id: nodeId,
  name: text(0, 256).default(''),
  display_position: z.strictObject({ x: z.number(), y: z.number() }).nullable().default(null),
  global_node_setting: globalNodeSetting.nullable().default(null),
  model_choice: modelRef.nullable().default(null),
}

/** What a node that converses may set for itself; null is the agent's setting. */
const turnSettings = {
  interruption_sensitivity: z.number().min(0).max(1).nullable().default(null),
  responsiveness: z.number().min(0).max(1).nullable().default(null),
  voice_speed: z.number().min(0.5).max(2).nullable().default(null),
  reminder_trigger_ms: z.int().min(0).max(3_600_000).nullable().default(null),
  reminder_max_count: z.int().min(0).max(100).nullable().default(null),
  allow_dtmf_interruption: z.boolean().nullable().default(null),
}

const conversing = {
  instruction,
  edges,
  always_edge: edgeSlot,
  skip_response_edge: edgeSlot,
  else_edge: edgeSlot,
  ...turnSettings,
  knowledge_base_ids: z.array(text(1, 256)).max(100).nullable().optional(),
  finetune_conversation_examples: examples,
  finetune_transition_examples: examples,
}

export const conversationNode = z.strictObject({ ...everyNode, type: z.literal('conversation'), ...conversing })

export const subagentNode = z.strictObject({
  ...everyNode,
  type: z.literal('subagent'),
  ...conversing,
  tool_ids: z.array(identifier(128)).max(50).default([]),
})

export const functionNode = z.strictObject({
  ...everyNode,
  type: z.literal('function'),
  tool_id: identifier(128),
  tool_type: z.enum(['local', 'shared']).optional(),
  wait_for_result: z.boolean().default(true),
  speak_during_execution: z.boolean().default(false),
  enable_typing_sound: z.boolean().optional(),
  instruction: instruction.nullable().default(null),
  edges,
  else_edge: edgeSlot,
})

/** Chooses by equations, at once. */
export const branchNode = z.strictObject({
  ...everyNode,
  type: z.literal('branch'),
  edges: z.array(edge).min(1).max(100),
  else_edge: edgeSlot,
})

export const extractNode = z.strictObject({
  ...everyNode,
  type: z.literal('extract_dynamic_variables'),
  variables: z.array(variableItem).min(1).max(50),
  edges,
  else_edge: edgeSlot,
})

export const pressDigitNode = z.strictObject({
  ...everyNode,
  type: z.literal('press_digit'),
  instruction,
  delay_ms: z.int().min(0).max(10_000).default(1000),
  edges,
  else_edge: edgeSlot,
})

/** Leaves by `edge`, only when the transfer failed. */
export const transferNode = z.strictObject({
  ...everyNode,
  type: z.literal('transfer_call'),
  ...transferFields,
  edge: edgeSlot,
})

/** Ends the conversation; inside a component, the component. */
export const endNode = z.strictObject({
  ...everyNode,
  type: z.literal('end'),
  instruction: instruction.nullable().default(null),
  speak_during_execution: z.boolean().default(false),
})

/** Runs the component from its start; when that ends, the edges here are tried. */
export const componentNode = z.strictObject({
  ...everyNode,
  type: z.literal('component'),
  component_id: nodeId,
  component_type: z.enum(['local', 'shared']).default('local'),
  edges,
  else_edge: edgeSlot,
})

/** Types of the format that no engine here runs yet: drafts keep them, compilation says `unsupported_capability`. */
export const UNSUPPORTED_NODE_TYPES = [
  'code',
  'mcp',
  'agent_swap',
  'sms',
  'bridge_transfer',
  'cancel_transfer',
] as const

const unsupportedNode = z.looseObject({ ...everyNode, type: z.enum(UNSUPPORTED_NODE_TYPES) })

export const node = z.discriminatedUnion('type', [
  conversationNode,
  subagentNode,
  functionNode,
  branchNode,
  extractNode,
  pressDigitNode,
  transferNode,
  endNode,
  componentNode,
  unsupportedNode,
])

export type GlobalNodeSetting = z.output<typeof globalNodeSetting>
export type ConversationNode = z.output<typeof conversationNode>
export type SubagentNode = z.output<typeof subagentNode>
export type FunctionNode = z.output<typeof functionNode>
export type ExtractNode = z.output<typeof extractNode>
export type PressDigitNode = z.output<typeof pressDigitNode>
export type TransferNode = z.output<typeof transferNode>
export type EndNode = z.output<typeof endNode>
export type ComponentNode = z.output<typeof componentNode>
export type FlowNode = z.output<typeof node>
export type NodeType = FlowNode['type']
