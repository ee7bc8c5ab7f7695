import { z } from 'zod'
import type { Conversing, NodeBehaviour } from '../node-type.ts'
import { examples } from '../node-type.ts'
import { text } from '../values/text.ts'
import { edgeSlot, edges } from './edge.ts'
import { instruction } from './instruction.ts'

/** The fields of nodes that converse. Null is the agent's setting. */
export const conversingFields = {
  instruction,
  edges,
  always_edge: edgeSlot,
  skip_response_edge: edgeSlot,
  else_edge: edgeSlot,
  interruption_sensitivity: z.number().min(0).max(1).nullable().default(null),
  responsiveness: z.number().min(0).max(1).nullable().default(null),
  voice_speed: z.number().min(0.5).max(2).nullable().default(null),
  reminder_trigger_ms: z.int().min(0).max(3_600_000).nullable().default(null),
  reminder_max_count: z.int().min(0).max(100).nullable().default(null),
  allow_dtmf_interruption: z.boolean().nullable().default(null),
  knowledge_base_ids: z.array(text(1, 256)).max(100).nullable().optional(),
  finetune_conversation_examples: examples,
  finetune_transition_examples: examples,
}

/** What nodes that converse have in common. */
export const conversingBehaviour = {
  enter: () => ({ next: 'converse' }),
} satisfies NodeBehaviour<Omit<Conversing, 'tools'>>
