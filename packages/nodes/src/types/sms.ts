import { defineStoredAction } from '../action-kind.ts'
import { defineStoredNode } from '../node-type.ts'
import { edgeSlot } from '../parts/edge.ts'

/** Sends a text message. Drafts may contain it, but it cannot run yet. */
export const sms = defineStoredNode({
  type: 'sms',
  fields: { success_edge: edgeSlot, failed_edge: edgeSlot },
  hasInstruction: true,
})

export const sendSmsAction = defineStoredAction('send_sms')
