import type { DraftEdit } from '@parley/contract'
import { type FlowNode, nodeTypeOf, placesOf, slotsOf, slottedEdges } from '@parley/nodes'
import type { DraftContent } from '../plan/draft.ts'
import { editedNode } from './edited-flow.ts'
import { DRAFT_LIMITS } from './limits.ts'
import { limitReached, notApplicable, Refusal } from './refusal.ts'

type EdgeEdit = Extract<DraftEdit, { type: 'flow.edge.put' | 'flow.edge.remove' }>
type EdgePut = Extract<EdgeEdit, { type: 'flow.edge.put' }>

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
  const elsewhere = slottedEdges(node).find(held => held.edge.id === edge.id && held.slot !== slot)
  if (elsewhere !== undefined)
    return notApplicable(['edge', 'id'], `the edge "${edge.id}" stands in "${elsewhere.slot}": remove it there first`)
  const places = placesOf(node)
  if (slot !== 'edges') {
    if (index !== undefined) return notApplicable('index', `"${slot}" holds one edge, not a list`)
    places[slot] = edge
    return null
  }
  const { edges } = places
  const held = edges.findIndex(other => other.id === edge.id)
  if (held !== -1) {
    edges[held] = edge
    return null
  }
  if (edges.length >= DRAFT_LIMITS.edges)
    return limitReached('edge', `a node has at most ${DRAFT_LIMITS.edges} edges in its list`)
  if (index !== undefined && index > edges.length)
    return notApplicable('index', `there are ${edges.length} edges: ${index} is beyond the end`)
  edges.splice(index ?? edges.length, 0, edge)
  return null
}

function removeEdge(node: FlowNode, id: string): Refusal | null {
  const held = slottedEdges(node).findLast(({ edge }) => edge.id === id)
  if (held === undefined) return notApplicable('edge_id', `there is no edge "${id}" at "${node.id}"`)
  const places = placesOf(node)
  if (held.slot !== 'edges') {
    places[held.slot] = null
    return null
  }
  const { minEdges = 0 } = nodeTypeOf(node)
  if (places.edges.length <= minEdges)
    return notApplicable(
      'edge_id',
      `"${node.id}" needs ${minEdges === 1 ? 'an edge' : `${minEdges} edges`} in its list: put another before "${id}" is removed, or remove the node`,
    )
  places.edges.splice(places.edges.indexOf(held.edge), 1)
  return null
}
