import type { Edge, EdgeSlot } from './parts/edge.ts'
import { type FlowNode, nodeTypeOf } from './registry.ts'

interface SlottedEdge {
  readonly slot: EdgeSlot
  readonly edge: Edge
}

/** The members of a node that can hold edges. */
type EdgePlaces = { edges: Edge[] } & { [Slot in Exclude<EdgeSlot, 'edges'>]: Edge | null }

export function slotsOf(node: FlowNode): readonly EdgeSlot[] {
  return nodeTypeOf(node).slots
}

/** The node, typed by the members that hold its edges. Only those that {@link slotsOf} lists exist. */
export function placesOf(node: FlowNode): EdgePlaces {
  // The compiler cannot tell which members the types of a union share.
  return node as unknown as EdgePlaces
}

/** The edge in a slot for one edge; null where the slot is empty or the node's type does not have it. */
export function edgeIn(node: FlowNode, slot: Exclude<EdgeSlot, 'edges'>): Edge | null {
  return slotsOf(node).includes(slot) ? placesOf(node)[slot] : null
}

/** The edges in the list `edges`, which their conditions decide, in order. */
export function conditionalEdges(node: FlowNode): readonly Edge[] {
  return slotsOf(node).includes('edges') ? placesOf(node).edges : []
}

/** Every edge of a node with its slot. */
export function slottedEdges(node: FlowNode): readonly SlottedEdge[] {
  const places = placesOf(node)
  return slotsOf(node).flatMap(slot => {
    const content = places[slot]
    if (Array.isArray(content)) return content.map(edge => ({ slot, edge }))
    return content === null ? [] : [{ slot, edge: content }]
  })
}
