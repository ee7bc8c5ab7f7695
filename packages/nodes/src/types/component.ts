import { z } from 'zod'
import { defineNode } from '../node-type.ts'
import { edgeSlot, edges } from '../parts/edge.ts'
import { nodeId } from '../values/names.ts'

/** Runs the component from its start; when that ends, the edges of this node are tried. */
export const component = defineNode({
  type: 'component',
  fields: {
    component_id: nodeId,
    component_type: z.enum(['local', 'shared']).default('local'),
    edges,
    else_edge: edgeSlot,
  },
  component: node => node.component_id,
  enter: node => ({ next: 'call_component', componentId: node.component_id }),
  stuck: () => ({ next: 'end', outcome: 'completed' }),
  check: (node, draft) =>
    node.component_type === 'local'
      ? []
      : [
          {
            severity: 'error',
            code: 'unsupported_capability',
            path: ['component_type'],
            message: `Components shared between agents do not run here yet: copy that of "${node.id}" into this flow as a local one`,
            fixes: draft.hasComponent(node.component_id)
              ? [{ fix: 'put', label: 'Use the one of this flow', part: { ...node, component_type: 'local' as const } }]
              : [{ fix: 'remove' }],
          },
        ],
})
