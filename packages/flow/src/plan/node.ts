import type { node } from '@parley/contract'
import type { z } from 'zod'

/** One node of a flow, by its type. */
export type FlowNode = z.output<typeof node>
export type NodeType = FlowNode['type']
type NodeOf<Type extends NodeType> = Extract<FlowNode, { type: Type }>

export type ConversationNode = NodeOf<'conversation'>
export type SubagentNode = NodeOf<'subagent'>
export type FunctionNode = NodeOf<'function'>
export type ExtractNode = NodeOf<'extract_dynamic_variables'>
export type PressDigitNode = NodeOf<'press_digit'>
/** Leaves by `edge`, only when the transfer failed. */
export type TransferNode = NodeOf<'transfer_call'>
/** Ends the conversation; inside a component, the component. */
export type EndNode = NodeOf<'end'>
/** Runs the component from its start; when that ends, the edges here are tried. */
export type ComponentNode = NodeOf<'component'>
export type GlobalNodeSetting = NonNullable<FlowNode['global_node_setting']>
