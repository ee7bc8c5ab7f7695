import { z } from 'zod'
import { defineNode } from '../node-type.ts'
import { converse, conversingFields, warnUnusedMembers } from '../parts/conversing.ts'
import { actionId } from '../values/names.ts'

/** A conversation in which the model may call actions. */
export const subagent = defineNode({
  type: 'subagent',
  fields: { ...conversingFields, tool_ids: z.array(actionId).max(50).default([]) },
  enter: converse,
  conversing: node => ({ ...node, tools: node.tool_ids }),
  actionIds: node => node.tool_ids,
  exportDefinesTools: true,
  check: (node, draft) => [
    ...warnUnusedMembers(node),
    ...node.tool_ids.flatMap((id, index) => {
      if (draft.actionKind(id) !== undefined) return []
      const others = node.tool_ids.filter(other => other !== id)
      return [
        {
          severity: 'error' as const,
          code: 'action_unknown' as const,
          path: ['tool_ids', index],
          message: `The node "${node.id}" offers the action "${id}", which the agent does not have: define it, or leave it out of tool_ids`,
          fixes: [{ fix: 'put' as const, label: `Leave "${id}" out`, part: { ...node, tool_ids: others } }],
        },
      ]
    }),
  ],
})
