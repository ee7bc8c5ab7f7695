import { z } from 'zod'
import type { ActionBehaviour, ActionKind } from './action-kind.ts'
import type { NodeBehaviour, NodeType } from './node-type.ts'
import { agentSwap } from './types/agent-swap.ts'
import { branch } from './types/branch.ts'
import { bridgeTransfer } from './types/bridge-transfer.ts'
import { cancelTransfer } from './types/cancel-transfer.ts'
import { type CodeAction, codeNode } from './types/code.ts'
import { component } from './types/component.ts'
import { conversation } from './types/conversation.ts'
import { end } from './types/end.ts'
import { extractDynamicVariables } from './types/extract-dynamic-variables.ts'
import { functionNode } from './types/function.ts'
import { type HttpAction, httpAction } from './types/http-action.ts'
import { type McpAction, mcpNode } from './types/mcp.ts'
import { pressDigit } from './types/press-digit.ts'
import { type SmsAction, sms } from './types/sms.ts'
import { subagent } from './types/subagent.ts'
import { transferCall } from './types/transfer-call.ts'

/** Every node type, in the order in which the API lists them. */
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
  codeNode,
  mcpNode,
  agentSwap,
  sms,
  bridgeTransfer,
  cancelTransfer,
] as const

/** Every kind of action: what node types do that the model can do as well. */
const ACTION_KINDS = NODE_TYPES.map(({ action }) => action).filter(kind => kind !== undefined)

const [firstNode, ...otherNodes] = NODE_TYPES.map(({ schema }) => schema)
const [firstAction, ...otherActions] = ACTION_KINDS.map(({ schema }) => schema)

/** One node of a flow, of any type. */
export const node = z.discriminatedUnion('type', [firstNode!, ...otherNodes]).meta({ id: 'Node' })

/** What an agent can do besides talking: an action of any kind. */
export const action = z.discriminatedUnion('kind', [firstAction!, ...otherActions]).meta({ id: 'Action' })

export type FlowNode = z.output<typeof node>
export type Action = z.output<typeof action>

/** A node type whose schema the compiler does not know. Pass its functions only nodes of that type, as {@link nodeTypeOf} finds it. */
interface AnyNodeType extends NodeBehaviour<FlowNode>, Omit<NodeType<z.ZodObject>, keyof NodeBehaviour<never>> {}
interface AnyActionKind extends ActionBehaviour<Action>, Omit<ActionKind<z.ZodObject>, keyof ActionBehaviour<never>> {}

const nodeTypes: ReadonlyMap<string, AnyNodeType> = new Map(NODE_TYPES.map(type => [type.type, type]))
const actionKinds: ReadonlyMap<string, AnyActionKind> = new Map(ACTION_KINDS.map(kind => [kind.kind, kind]))

export function nodeTypeOf(node: Pick<FlowNode, 'type'>): AnyNodeType {
  // The node schema is made of the types in this map, so a node that was read has one.
  return nodeTypes.get(node.type)!
}

export function actionKindOf(action: Pick<Action, 'kind'>): AnyActionKind {
  return actionKinds.get(action.kind)!
}

/** The node type that an export names; undefined: there is none. */
export function nodeTypeNamed(type: unknown): AnyNodeType | undefined {
  return typeof type === 'string' ? nodeTypes.get(type) : undefined
}

/** The kind of action with this name; undefined: there is none. */
export function actionKindNamed(kind: unknown): AnyActionKind | undefined {
  return typeof kind === 'string' ? actionKinds.get(kind) : undefined
}

/** The kind of action that an export names as the type of a tool; undefined: there is none. */
export function actionKindOfTool(exportType: unknown): AnyActionKind | undefined {
  return ACTION_KINDS_BY_EXPORT_TYPE.get(exportType)
}

const ACTION_KINDS_BY_EXPORT_TYPE = new Map<unknown, AnyActionKind>(
  [...actionKinds.values()].map(kind => [kind.exportType, kind]),
)

/** An action with a result, which runs outside the flow. */
export type EffectAction = HttpAction | CodeAction | McpAction | SmsAction

const EFFECT_KINDS: ReadonlySet<string> = new Set([
  httpAction.kind,
  codeNode.action.kind,
  mcpNode.action.kind,
  sms.action.kind,
])

export function isEffectAction(action: Action): action is EffectAction {
  return EFFECT_KINDS.has(action.kind)
}

/** The action that the node itself is; undefined: its type has none. */
export function ownActionOf(node: FlowNode): EffectAction | undefined {
  // The kinds of these actions are those of EffectAction.
  return nodeTypeOf(node).ownAction?.(node) as EffectAction | undefined
}

/** Whether the action is the kind that function nodes run, and that the conversation sends as an HTTP request. */
export function isHttpAction(action: Action): action is HttpAction {
  return action.kind === httpAction.kind
}
