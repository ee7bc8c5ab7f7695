import { defineStoredAction } from '../action-kind.ts'
import { defineStoredNode } from '../node-type.ts'
import { edgeSlot } from '../parts/edge.ts'

/** Sends a text message. Does not run yet. */
export const sms = defineStoredNode({
  type: 'sms',
  fields: { success_edge: edgeSlot, failed_edge: edgeSlot },
  hasInstruction: true,
  action: defineStoredAction('send_sms'),
})
