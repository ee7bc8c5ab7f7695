import { z } from 'zod'
import { defineStoredAction } from '../action-kind.ts'
import { notExecuted } from '../findings.ts'
import { defineNode } from '../node-type.ts'
import { edgeSlot } from '../parts/edge.ts'
import { instruction } from '../parts/instruction.ts'
import { json } from '../values/json.ts'
import { text } from '../values/text.ts'

/** Hands the conversation to another agent. Agents do not take over calls yet: the node is left by its edge for a failed swap. */
export const agentSwap = defineNode({
  type: 'agent_swap',
  fields: {
    agent_id: text(0, 256).default(''),
    agent_version: json.optional(),
    keep_current_voice: z.boolean().optional(),
    keep_current_language: z.boolean().optional(),
    post_call_analysis_setting: json.optional(),
    webhook_setting: json.optional(),
    instruction: instruction.nullable().optional(),
    speak_during_execution: z.boolean().optional(),
    edge: edgeSlot,
  },
  enter: () => ({ next: 'fail', slot: 'edge', actionOutcome: 'failed' }),
  importWarnings: () => [
    {
      code: 'unsupported_capability',
      field: 'type',
      message: 'Agents do not take over calls yet: the edge for a failed swap is taken',
    },
  ],
  check: () => [
    notExecuted(['agent_id'], 'agents do not take over calls yet, so the edge for a failed swap is taken', []),
  ],
  action: defineStoredAction('agent_swap'),
})
