import { notExecutedUnless, type PartFinding } from '../findings.ts'
import { defineNode } from '../node-type.ts'
import { type Edge, edgeSlot, edges } from '../parts/edge.ts'
import { transitionExamples } from '../parts/examples.ts'
import { LEAVE_NODE } from '../steps.ts'

/** Takes an edge at once: the first whose equation holds, else one that the model chooses by its prompt, else the else edge. */
export const branch = defineNode({
  type: 'branch',
  fields: { edges, else_edge: edgeSlot, ...transitionExamples },
  enter: () => LEAVE_NODE,
  check: node => [
    ...missingElse(node),
    ...(node.model_choice === null || node.edges.some(({ transition_condition: { type } }) => type === 'prompt')
      ? []
      : [
          notExecutedUnless(['model_choice'], 'a branch without prompts decides by equations and asks no model', {
            ...node,
            model_choice: null,
          }),
        ]),
  ],
})

function missingElse(node: { readonly id: string; readonly else_edge: Edge | null }): PartFinding<never>[] {
  if (node.else_edge !== null) return []
  return [
    {
      severity: 'error',
      code: 'else_edge_missing',
      path: ['else_edge'],
      message: `The branch "${node.id}" has no edge for when no condition holds: add an else edge`,
      fixes: [{ fix: 'add_edge_to_end', slot: 'else_edge', edgeId: 'else', prompt: 'Else' }],
    },
  ]
}
