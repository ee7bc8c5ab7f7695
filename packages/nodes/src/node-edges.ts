import type { Edge, EdgeSlot } from './parts/edge.ts'
import { type FlowNode, nodeTypeOf } from './registry.ts'

interface SlottedEdge {
  readonly slot: EdgeSlot
  readonly edge: Edge
}

/** The members of a node that hold edges, as far as its type has them. */
type EdgePlaces = { edges: Edge[] } & { [Slot in Exclude<EdgeSlot, 'edges'>]: Edge | null }

export function slotsOf(node: FlowNode): readonly EdgeSlot[] {
  return nodeTypeOf(node).slots
}

/** The node as the holder of its edges: only the members that {@link slotsOf} names are there. */
export function placesOf(node: FlowNode): EdgePlaces {
  // Of a union the compiler does not see which members its types share.
  return node as unknown as EdgePlaces
}

/** The edge in one of the single slots; null where it is empty, or the type has no such slot. */
export function edgeIn(node: FlowNode, slot: Exclude<EdgeSlot, 'edges'>): Edge | null {
  return slotsOf(node).includes(slot) ? placesOf(node)[slot] : null
}

/** The edges that a condition decides, in order. */
export function conditionalEdges(node: FlowNode): readonly Edge[] {
  return slotsOf(node).includes('edges') ? placesOf(node).edges : []
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
