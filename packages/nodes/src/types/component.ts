import { z } from 'zod'
import { notExecuted } from '../findings.ts'
import { defineNode } from '../node-type.ts'
import { edgeSlot, edges } from '../parts/edge.ts'
import { transitionExamples } from '../parts/examples.ts'
import { nodeId } from '../values/names.ts'

/**
 * Runs the component from its start; when the component ends, the node is left by its edges. A shared component runs where the flow has a
 * copy of it, as exports do; one that the flow does not have is passed over.
 */
export const component = defineNode({
  type: 'component',
  fields: {
    component_id: nodeId,
    component_type: z.enum(['local', 'shared']).default('local'),
    edges,
    else_edge: edgeSlot,
    ...transitionExamples,
  },
  componentId: node => node.component_id,
  enter: node => ({ next: 'call_component', componentId: node.component_id }),
  stuck: () => ({ next: 'end', outcome: 'completed' }),
  check: (node, draft) =>
    node.component_type === 'local' || draft.hasComponent(node.component_id)
      ? []
      : [
          notExecuted(
            ['component_id'],
            'the flow has no copy of this shared component, so the node is left by its edges at once',
            [],
          ),
        ],
})
