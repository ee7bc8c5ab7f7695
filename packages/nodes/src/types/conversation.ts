import { bareNode, defineNode } from '../node-type.ts'
import { converse, conversingFields, warnUnusedMembers } from '../parts/conversing.ts'

/** The agent speaks by its instruction and answers the caller until an edge leads on. */
export const conversation = defineNode({
  type: 'conversation',
  fields: conversingFields,
  enter: converse,
  conversing: node => ({ ...node, tools: [] }),
  check: warnUnusedMembers,
})

/** A conversation node without edges. */
export function newConversationNode(id: string, prompt: string) {
  return {
    ...bareNode(id),
    type: 'conversation' as const,
    instruction: { type: 'prompt' as const, text: prompt },
    edges: [],
    always_edge: null,
    skip_response_edge: null,
    else_edge: null,
    interruption_sensitivity: null,
    responsiveness: null,
    voice_speed: null,
    reminder_trigger_ms: null,
    reminder_max_count: null,
    allow_dtmf_interruption: null,
  }
}
