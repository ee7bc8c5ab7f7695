import { z } from 'zod'
import { defineNode } from '../node-type.ts'
import { conversingBehaviour, conversingFields } from '../parts/conversing.ts'
import { actionId } from '../values/names.ts'

/** A conversation in which the model may call actions. */
export const subagent = defineNode({
  type: 'subagent',
  fields: { ...conversingFields, tool_ids: z.array(actionId).max(50).default([]) },
  ...conversingBehaviour,
  conversing: node => ({ ...node, tools: node.tool_ids }),
  actions: node => node.tool_ids,
  definesTools: true,
  check: (node, draft) =>
    node.tool_ids.flatMap((id, index) =>
      draft.actionKind(id) !== undefined
        ? []
        : [
            {
              severity: 'error',
              code: 'action_unknown',
              path: ['tool_ids', index],
              message: `There is no action "${id}": define or remove it`,
              fixes: [
                {
                  fix: 'put',
                  label: `Leave "${id}" out`,
                  part: { ...node, tool_ids: node.tool_ids.filter(other => other !== id) },
                },
              ],
            },
          ],
    ),
})
