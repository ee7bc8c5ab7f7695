import { z } from 'zod'
import type { ActionBehaviour, ActionKind } from './action-kind.ts'
import type { NodeBehaviour, NodeType } from './node-type.ts'
import { agentSwap, agentSwapAction } from './types/agent-swap.ts'
import { branch } from './types/branch.ts'
import { bridgeTransfer } from './types/bridge-transfer.ts'
import { cancelTransfer } from './types/cancel-transfer.ts'
import { code } from './types/code.ts'
import { component } from './types/component.ts'
import { conversation } from './types/conversation.ts'
import { end, endCallAction } from './types/end.ts'
import { extractDynamicVariables, extractDynamicVariablesAction } from './types/extract-dynamic-variables.ts'
import { functionNode } from './types/function.ts'
import { httpAction } from './types/http-action.ts'
import { mcp } from './types/mcp.ts'
import { pressDigit, pressDigitAction } from './types/press-digit.ts'
import { sendSmsAction, sms } from './types/sms.ts'
import { subagent } from './types/subagent.ts'
import { transferCall, transferCallAction } from './types/transfer-call.ts'

/** Every type of node. */
const NODE_TYPES = [
  conversation,
  subagent,
  functionNode,
  branch,
  extractDynamicVariables,
  pressDigit,
  transferCall,
  end,
  component,
  code,
  mcp,
  agentSwap,
  sms,
  bridgeTransfer,
  cancelTransfer,
] as const

/** Every kind of action. */
const ACTION_KINDS = [
  httpAction,
  endCallAction,
  transferCallAction,
  pressDigitAction,
  extractDynamicVariablesAction,
  agentSwapAction,
  sendSmsAction,
] as const

const [firstNode, ...otherNodes] = NODE_TYPES.map(({ schema }) => schema)
const [firstAction, ...otherActions] = ACTION_KINDS.map(({ schema }) => schema)

/** One node of a flow, by its type. */
export const node = z.discriminatedUnion('type', [firstNode!, ...otherNodes]).meta({ id: 'Node' })

/** What an agent can do besides talking, by its kind. */
export const action = z.discriminatedUnion('kind', [firstAction!, ...otherActions]).meta({ id: 'Action' })

export type FlowNode = z.output<typeof node>
export type Action = z.output<typeof action>

/** The type of a node. Its functions take nodes of that type only: {@link nodeTypeOf} finds it by the node it is asked about. */
interface AnyNodeType extends NodeBehaviour<FlowNode>, Omit<NodeType<z.ZodObject>, keyof NodeBehaviour<never>> {}
interface AnyActionKind extends ActionBehaviour<Action>, Omit<ActionKind<z.ZodObject>, keyof ActionBehaviour<never>> {}

const nodeTypes: ReadonlyMap<string, AnyNodeType> = new Map(NODE_TYPES.map(type => [type.type, type]))
const actionKinds: ReadonlyMap<string, AnyActionKind> = new Map(ACTION_KINDS.map(kind => [kind.kind, kind]))

export function nodeTypeOf(node: Pick<FlowNode, 'type'>): AnyNodeType {
  // Every type that the schema takes stands in the list that the schema is made of.
  return nodeTypes.get(node.type)!
}

export function actionKindOf(action: Pick<Action, 'kind'>): AnyActionKind {
  return actionKinds.get(action.kind)!
}

/** Finds a type by the name that an export gives; undefined where there is none. */
export function nodeTypeNamed(type: unknown): AnyNodeType | undefined {
  return typeof type === 'string' ? nodeTypes.get(type) : undefined
}

/** Finds a kind of action by its name; undefined where there is none. */
export function actionKindNamed(kind: unknown): AnyActionKind | undefined {
  return typeof kind === 'string' ? actionKinds.get(kind) : undefined
}

/** Finds a kind of action by the type of a tool of an export; undefined where there is none. */
export function actionKindOfTool(exportType: unknown): AnyActionKind | undefined {
  return ACTION_KINDS_BY_EXPORT_TYPE.get(exportType)
}

const ACTION_KINDS_BY_EXPORT_TYPE = new Map<unknown, AnyActionKind>(
  [...actionKinds.values()].map(kind => [kind.exportType, kind]),
)
