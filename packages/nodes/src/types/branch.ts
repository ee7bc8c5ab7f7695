import { z } from 'zod'
import { notExecutedUnless, type PartFinding } from '../findings.ts'
import { defineNode, type JsonObject } from '../node-type.ts'
import { type Edge, edge, edgeSlot } from '../parts/edge.ts'
import { isObject } from '../parts/json-schema.ts'
import { LEAVE_NODE } from '../steps.ts'
import type { Json } from '../values/json.ts'

/** Takes an edge at once, decided by equations. */
export const branch = defineNode({
  type: 'branch',
  fields: { edges: z.array(edge).min(1).max(100), else_edge: edgeSlot },
  minEdges: 1,
  enter: () => LEAVE_NODE,
  check: node => [
    ...promptEdges(node),
    ...missingElse(node),
    ...(node.model_choice === null
      ? []
      : [
          notExecutedUnless(['model_choice'], 'a branch decides by equations and asks no model', {
            ...node,
            model_choice: null,
          }),
        ]),
  ],
  importNode: source => {
    if (Array.isArray(source.edges) && source.edges.some(isObject)) return { node: source, warnings: [] }
    return {
      node: { ...source, edges: [edgeLikeElse(source.else_edge)] },
      warnings: [
        {
          code: 'field_ignored',
          field: 'edges',
          message: 'A branch needs at least one edge: an edge to the destination of its else edge was added',
        },
      ],
    }
  },
})

interface BranchEdges {
  readonly id: string
  readonly edges: readonly Edge[]
  readonly else_edge: Edge | null
}

function promptEdges(node: BranchEdges): PartFinding<never>[] {
  return node.edges.flatMap((edge, index) =>
    edge.transition_condition.type === 'equation'
      ? []
      : [
          {
            severity: 'error',
            code: 'unsupported_capability',
            path: ['edges', index, 'transition_condition'],
            message: `The branch "${node.id}" decides by equations only: give the edge "${edge.id}" an equation, or use a conversation node`,
            fixes: [{ fix: 'remove_edge', edge }],
          },
        ],
  )
}

function missingElse(node: BranchEdges): PartFinding<never>[] {
  if (node.else_edge !== null) return []
  return [
    {
      severity: 'error',
      code: 'else_edge_missing',
      path: ['else_edge'],
      message: `The branch "${node.id}" has no edge for when no equation holds: add an else edge`,
      fixes: [{ fix: 'add_edge_to_end', slot: 'else_edge', edgeId: 'else', prompt: 'Else' }],
    },
  ]
}

/** An edge to the destination of the else edge. Whether its equation holds does not matter: the else edge leads to the same node. */
function edgeLikeElse(elseEdge: Json | undefined): JsonObject {
  const destination = isObject(elseEdge) ? (elseEdge as JsonObject).destination_node_id : undefined
  const equation = { left: '{{current_time}}', operator: 'exists' }
  return {
    id: 'added-else',
    transition_condition: { type: 'equation', operator: '&&', equations: [equation] },
    ...(destination !== undefined && { destination_node_id: destination }),
  }
}
