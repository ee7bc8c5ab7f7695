import { defineStoredNode } from '../node-type.ts'
import { edgeSlot, edges } from '../parts/edge.ts'

/** Calls a tool of an MCP server. Does not run yet. */
export const mcp = defineStoredNode({ type: 'mcp', fields: { edges, else_edge: edgeSlot }, hasInstruction: false })
