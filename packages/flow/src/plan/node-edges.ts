import type { Edge, EdgeSlot } from './edge.ts'
import type { FlowNode, NodeType } from './node.ts'

export interface SlottedEdge {
  readonly slot: EdgeSlot
  readonly edge: Edge
}

const LISTED = ['edges', 'else_edge'] as const
const CONVERSING = ['edges', 'always_edge', 'skip_response_edge', 'else_edge'] as const

/** Where the edges of each type of node stand. */
const SLOTS: { readonly [Type in NodeType]: readonly EdgeSlot[] } = {
  conversation: CONVERSING,
  subagent: CONVERSING,
  function: LISTED,
  branch: LISTED,
  extract_dynamic_variables: LISTED,
  press_digit: LISTED,
  component: LISTED,
  code: LISTED,
  mcp: LISTED,
  transfer_call: ['edge'],
  agent_swap: ['edge'],
  sms: ['success_edge', 'failed_edge'],
  end: [],
  bridge_transfer: [],
  cancel_transfer: [],
}

/** The members of a node that hold edges, as far as its type has them. */
export type EdgePlaces = { edges: Edge[] } & { [Slot in Exclude<EdgeSlot, 'edges'>]: Edge | null }

export function slotsOf(node: FlowNode): readonly EdgeSlot[] {
  return SLOTS[node.type]
}

/** The node as what holds its edges: only members that {@link slotsOf} names are there. */
export function placesOf(node: FlowNode): EdgePlaces {
  return node as unknown as EdgePlaces
}

/** Edges that a condition decides, in order. */
export function conditionalEdges(node: FlowNode): readonly Edge[] {
  return slotsOf(node).includes('edges') ? placesOf(node).edges : []
}

/** The edge taken when no condition holds. */
export function elseEdge(node: FlowNode): Edge | null {
  return slotsOf(node).includes('else_edge') ? placesOf(node).else_edge : null
}

/** Every edge of a node with its slot. */
export function slottedEdges(node: FlowNode): readonly SlottedEdge[] {
  const places = placesOf(node)
  return slotsOf(node).flatMap(slot => {
    const held = places[slot]
    if (Array.isArray(held)) return held.map(edge => ({ slot, edge }))
    return held === null ? [] : [{ slot, edge: held }]
  })
}
