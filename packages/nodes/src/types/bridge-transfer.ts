import { defineStoredNode } from '../node-type.ts'

/** Completes a warm transfer. Does not run yet. */
export const bridgeTransfer = defineStoredNode({ type: 'bridge_transfer', fields: {}, hasInstruction: true })
