import { z } from 'zod'
import { defineNode } from '../node-type.ts'
import { converse, conversingFields, missingTools, toolFields } from '../parts/conversing.ts'
import { warnTypingSound } from '../parts/typing-sound.ts'
import { actionId } from '../values/names.ts'

/** A conversation in which the model may call actions. */
export const subagent = defineNode({
  type: 'subagent',
  fields: { ...conversingFields, ...toolFields, tool_ids: z.array(actionId).max(50).default([]) },
  enter: converse,
  conversing: node => ({ ...node, tools: node.tool_ids }),
  actionIds: node => node.tool_ids,
  exportDefinesTools: true,
  check: (node, draft) => [...warnTypingSound(node), ...missingTools(node, draft)],
})
