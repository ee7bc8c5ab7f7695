import { defineStoredNode } from '../node-type.ts'

/** Cancels a warm transfer. Does not run yet. */
export const cancelTransfer = defineStoredNode({ type: 'cancel_transfer', fields: {}, hasInstruction: true })
