import { defineStoredAction } from '../action-kind.ts'
import { defineStoredNode } from '../node-type.ts'
import { edgeSlot } from '../parts/edge.ts'

/** Hands the conversation to another agent. Does not run yet. */
export const agentSwap = defineStoredNode({
  type: 'agent_swap',
  fields: { edge: edgeSlot },
  hasInstruction: false,
  action: defineStoredAction('agent_swap'),
})
