import type { Edge, EdgeSlot } from './edge.ts'
import type { FlowNode } from './node.ts'

export interface SlottedEdge {
  readonly slot: EdgeSlot
  readonly edge: Edge
}

/** Edges that a condition decides, in order. */
export function conditionalEdges(node: FlowNode): readonly Edge[] {
  switch (node.type) {
    case 'conversation':
    case 'subagent':
    case 'function':
    case 'branch':
    case 'extract_dynamic_variables':
    case 'press_digit':
    case 'component':
      return node.edges
    default:
      return []
  }
}

/** The edge taken when no condition holds. */
export function elseEdge(node: FlowNode): Edge | null {
  switch (node.type) {
    case 'conversation':
    case 'subagent':
    case 'function':
    case 'branch':
    case 'extract_dynamic_variables':
    case 'press_digit':
    case 'component':
      return node.else_edge
    default:
      return null
  }
}

/** Every edge of a node with its slot. */
export function slottedEdges(node: FlowNode): readonly SlottedEdge[] {
  const list: SlottedEdge[] = conditionalEdges(node).map(edge => ({ slot: 'edges', edge }))
  const add = (slot: EdgeSlot, edge: Edge | null) => {
    if (edge !== null) list.push({ slot, edge })
  }
  if (node.type === 'conversation' || node.type === 'subagent') {
    add('always_edge', node.always_edge)
    add('skip_response_edge', node.skip_response_edge)
  }
  add('else_edge', elseEdge(node))
  if (node.type === 'transfer_call') add('edge', node.edge)
  return list
}
