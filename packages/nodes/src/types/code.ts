import { defineStoredNode } from '../node-type.ts'
import { edgeSlot, edges } from '../parts/edge.ts'

/** JavaScript of the agent's author. Does not run yet. */
export const code = defineStoredNode({ type: 'code', fields: { edges, else_edge: edgeSlot }, hasInstruction: false })
