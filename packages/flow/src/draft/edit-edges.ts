import type { DraftEdit } from '@parley/contract'
import { type FlowNode, placesOf, slotsOf, slottedEdges } from '@parley/nodes'
import type { DraftContent } from '../plan/draft.ts'
import { editedNode } from './edited-flow.ts'
import { DRAFT_LIMITS } from './limits.ts'
import { limitReached, notApplicable, Refusal } from './refusal.ts'

type EdgeEdit = Extract<DraftEdit, { type: 'flow.edge.put' | 'flow.edge.remove' }>
type EdgePut = Extract<EdgeEdit, { type: 'flow.edge.put' }>

/** Adds, replaces or removes an edge of a node. */
export function applyEdgeEdit(draft: DraftContent, edit: EdgeEdit): Refusal | null {
  const node = editedNode(draft, edit)
  if (node instanceof Refusal) return node
  switch (edit.type) {
    case 'flow.edge.put':
      return putEdge(node, edit)
    case 'flow.edge.remove':
      return removeEdge(node, edit.edge_id)
  }
}

function putEdge(node: FlowNode, { slot, edge, index }: EdgePut): Refusal | null {
  if (!slotsOf(node).includes(slot)) return notApplicable('slot', `a node of type "${node.type}" has no "${slot}"`)
  const elsewhere = slottedEdges(node).find(other => other.edge.id === edge.id && other.slot !== slot)
  if (elsewhere !== undefined)
    return notApplicable(
      ['edge', 'id'],
      `the node has the edge "${edge.id}" in "${elsewhere.slot}": remove it there first`,
    )
  const places = placesOf(node)
  if (slot !== 'edges') {
    if (index !== undefined) return notApplicable('index', `"${slot}" holds one edge and takes no index`)
    places[slot] = edge
    return null
  }
  const { edges } = places
  const position = edges.findIndex(other => other.id === edge.id)
  if (position !== -1) {
    edges[position] = edge
    return null
  }
  if (edges.length >= DRAFT_LIMITS.edges)
    return limitReached('edge', `a node has at most ${DRAFT_LIMITS.edges} edges in its list`)
  if (index !== undefined && index > edges.length)
    return notApplicable('index', `the list has ${edges.length} edges: the index ${index} is beyond its end`)
  edges.splice(index ?? edges.length, 0, edge)
  return null
}

function removeEdge(node: FlowNode, id: string): Refusal | null {
  const found = slottedEdges(node).findLast(({ edge }) => edge.id === id)
  if (found === undefined) return notApplicable('edge_id', `the node "${node.id}" has no edge "${id}"`)
  const places = placesOf(node)
  if (found.slot !== 'edges') {
    places[found.slot] = null
    return null
  }
  places.edges.splice(places.edges.indexOf(found.edge), 1)
  return null
}
