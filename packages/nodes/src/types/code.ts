import { defineStoredNode } from '../node-type.ts'
import { edgeSlot, edges } from '../parts/edge.ts'

/** Runs JavaScript that the agent's author wrote. Does not run yet. */
export const code = defineStoredNode({ type: 'code', fields: { edges, else_edge: edgeSlot }, hasInstruction: false })
