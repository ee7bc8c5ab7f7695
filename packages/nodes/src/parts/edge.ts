import { z } from 'zod'
import { edgeId, nodeId } from '../values/names.ts'
import { text } from '../values/text.ts'

/** A comparison of a variable. */
export const equation = z
  .strictObject({
    left: text(1, 1024),
    operator: z.enum(['==', '!=', '>', '>=', '<', '<=', 'contains', 'not_contains', 'exists', 'not_exist']),
    /** Unused by `exists` and `not_exist`. */
    right: text(0, 1024).optional(),
  })
  .meta({ id: 'Equation' })

/** When an edge is taken: by the model's judgement of `prompt`, or by equations. */
export const transitionCondition = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('prompt'), prompt: text(1, 4096) }),
    z.strictObject({
      type: z.literal('equation'),
      operator: z.enum(['||', '&&']).default('&&'),
      equations: z.array(equation).min(1).max(50),
    }),
  ])
  .meta({ id: 'TransitionCondition' })

/** A way out of a node. A draft may hold an edge without a destination; validation reports it. */
export const edge = z
  .strictObject({
    id: edgeId,
    transition_condition: transitionCondition,
    destination_node_id: nodeId.nullable().default(null),
  })
  .meta({ id: 'Edge' })

/** When the conversation returns from a global node to the place that the global node interrupted. */
export const goBackCondition = z.strictObject({
  id: edgeId,
  transition_condition: transitionCondition,
  destination_node_id: z.null().default(null),
})

export const edges = z.array(edge).max(100).default([])
export const edgeSlot = edge.nullable().default(null)

/** The member of a node that holds an edge: the list `edges`, or a member for one edge. */
export const slot = z.enum([
  'edges',
  'always_edge',
  'skip_response_edge',
  'else_edge',
  'edge',
  'success_edge',
  'failed_edge',
])

export type Edge = z.output<typeof edge>
export type EdgeSlot = z.output<typeof slot>
