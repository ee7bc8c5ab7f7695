import type { DraftEdit } from '@parley/contract'
import {
  type Action,
  type Edge,
  type EdgeSlot,
  type FlowNode,
  type ModelRef,
  newConversationNode,
  newEndNode,
  slottedEdges,
} from '@parley/nodes'
import type { Path, Scope } from './scope.ts'

/** A fix of a finding; the edits apply unchanged to the checked draft. */
export interface Fix {
  readonly label: string
  readonly edits: DraftEdit[]
}

const MAX_NODES = 500

/** Whether an edit that names the node's id reaches exactly this node. */
function isAddressable(scope: Scope, node: FlowNode): boolean {
  return scope.isAddressable && !scope.duplicateIds.has(node.id)
}

export function removeNode(scope: Scope, node: FlowNode): Fix | undefined {
  if (!isAddressable(scope, node)) return undefined
  return {
    label: `Remove "${node.name || node.id}"`,
    edits: [{ type: 'flow.node.remove', component_id: scope.componentId, node_id: node.id }],
  }
}

/** Replaces the node with this id. */
export function putNode(scope: Scope, node: FlowNode, label: string): Fix | undefined {
  if (!isAddressable(scope, node)) return undefined
  return { label, edits: [{ type: 'flow.node.put', component_id: scope.componentId, node }] }
}

/** Removes the optional member at `path` from the node. */
export function clearInNode(scope: Scope, node: FlowNode, path: Path, label: string): Fix | undefined {
  return putNode(scope, without(node, path), label)
}

function without<Part extends object>(part: Part, path: Path): Part {
  const copy = structuredClone(part)
  let holder: object = copy
  for (const name of path.slice(0, -1)) holder = Reflect.get(holder, name)
  Reflect.deleteProperty(holder, path.at(-1)!)
  return copy
}

/** Sets the model choice of the node; null: the agent's model. */
export function putModelChoice(
  scope: Scope,
  node: FlowNode,
  model_choice: ModelRef | null,
  label: string,
): Fix | undefined {
  // Every node type has this member, which the compiler cannot infer for the union.
  return putNode(scope, { ...node, model_choice } as FlowNode, label)
}

/** Undefined when the edge cannot be removed because its id is not unique. */
export function removeEdge(scope: Scope, node: FlowNode, edge: Edge): Fix | undefined {
  if (!isAddressable(scope, node) || !hasUniqueId(node, edge)) return undefined
  return {
    label: `Remove the edge "${edge.id}"`,
    edits: [{ type: 'flow.edge.remove', component_id: scope.componentId, node_id: node.id, edge_id: edge.id }],
  }
}

function hasUniqueId(node: FlowNode, edge: Edge): boolean {
  return slottedEdges(node).every(other => other.edge === edge || other.edge.id !== edge.id)
}

/** Points the edge to an end node. */
export function connectToEnd(scope: Scope, node: FlowNode, slot: EdgeSlot, edge: Edge): Fix | undefined {
  return hasUniqueId(node, edge) ? putConnectedToEnd(scope, node, slot, edge) : undefined
}

/** Fills an empty slot with an edge to an end node. */
export function addEdgeToEnd(
  scope: Scope,
  node: FlowNode,
  slot: EdgeSlot,
  id: string,
  prompt: string,
): Fix | undefined {
  const taken = new Set(slottedEdges(node).map(({ edge }) => edge.id))
  const edge = {
    id: freshName(id, taken),
    transition_condition: { type: 'prompt' as const, prompt },
    destination_node_id: null,
  }
  return putConnectedToEnd(scope, node, slot, edge)
}

/** Points the edge to the first end node, or to a new one when the flow has none. */
function putConnectedToEnd(scope: Scope, node: FlowNode, slot: EdgeSlot, edge: Edge): Fix | undefined {
  if (!isAddressable(scope, node)) return undefined
  const component_id = scope.componentId
  const put = (to: string): DraftEdit => ({
    type: 'flow.edge.put',
    component_id,
    node_id: node.id,
    slot,
    edge: { ...edge, destination_node_id: to },
  })
  const end = scope.nodes.find(candidate => candidate.type === newEndNode('').type)
  if (end !== undefined) return { label: `Connect to "${end.name || end.id}"`, edits: [put(end.id)] }
  if (scope.nodes.length >= MAX_NODES) return undefined
  const id = freshName('end', scope.ids)
  return {
    label: 'Connect to a new end node',
    edits: [{ type: 'flow.node.put', component_id, node: newEndNode(id) }, put(id)],
  }
}

/** `stem`, with the first numeric suffix that makes it unique when it is taken. */
export function freshName(stem: string, taken: ReadonlySet<string>, separator = '-'): string {
  let name = stem
  for (let n = 2; taken.has(name); n++) name = `${stem}${separator}${n}`
  return name
}

/** Adds a first node to an empty flow or component. */
export function addFirstNode(scope: Scope): Fix | undefined {
  if (!scope.isAddressable) return undefined
  const component_id = scope.componentId
  const node = newConversationNode('start', 'Greet the user and ask how you can help.')
  return {
    label: 'Add a conversation node to start with',
    edits: [
      { type: 'flow.node.put', component_id, node },
      { type: 'flow.start', component_id, node_id: node.id },
    ],
  }
}

/** Replaces the action with this id. */
export function putAction(actions: readonly Action[], action: Action, label: string): Fix | undefined {
  const isOnly = actions.filter(other => other.action_id === action.action_id).length === 1
  return isOnly ? { label, edits: [{ type: 'action.put', action }] } : undefined
}

export function removeAction(actions: readonly Action[], action: Action): Fix | undefined {
  const isOnly = actions.filter(other => other.action_id === action.action_id).length === 1
  return isOnly
    ? { label: `Remove "${action.name}"`, edits: [{ type: 'action.remove', action_id: action.action_id }] }
    : undefined
}

/** Removes the optional member at `path` from the action. */
export function clearInAction(actions: readonly Action[], action: Action, path: Path, label: string): Fix | undefined {
  return putAction(actions, without(action, path), label)
}
