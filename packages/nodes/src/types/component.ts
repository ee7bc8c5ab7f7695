import { z } from 'zod'
import { defineNode } from '../node-type.ts'
import { edgeSlot, edges } from '../parts/edge.ts'
import { nodeId } from '../values/names.ts'

/** Runs the component from its start; when the component ends, the node is left by its edges. */
export const component = defineNode({
  type: 'component',
  fields: {
    component_id: nodeId,
    component_type: z.enum(['local', 'shared']).default('local'),
    edges,
    else_edge: edgeSlot,
  },
  componentId: node => node.component_id,
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
            message: `The node "${node.id}" runs a component that agents share, which is not supported yet: copy the component into this flow and set component_type to local`,
            fixes: draft.hasComponent(node.component_id)
              ? [
                  {
                    fix: 'put',
                    label: 'Use the component of this flow',
                    part: { ...node, component_type: 'local' as const },
                  },
                ]
              : [{ fix: 'remove' }],
          },
        ],
})
