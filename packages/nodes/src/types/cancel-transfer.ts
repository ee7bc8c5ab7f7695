import { defineStoredNode } from '../node-type.ts'

/** Breaks a warm transfer off. Does not run yet. */
export const cancelTransfer = defineStoredNode({ type: 'cancel_transfer', fields: {}, hasInstruction: true })
