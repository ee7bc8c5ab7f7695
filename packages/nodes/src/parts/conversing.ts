import { z } from 'zod'
import { notExecuted, type PartFinding } from '../findings.ts'
import { examples } from '../node-type.ts'
import type { NodeStep } from '../steps.ts'
import { text } from '../values/text.ts'
import { edgeSlot, edges } from './edge.ts'
import { instruction } from './instruction.ts'

/** How digits are collected in a node; absent members take the agent's values. */
const userDtmfOptions = z
  .strictObject({
    digit_limit: z.int().min(1).max(100).nullable().optional(),
    termination_key: z
      .string()
      .regex(/^[0-9*#]$/, 'one of 0-9, *, #')
      .nullable()
      .optional(),
    timeout_ms: z.int().min(1).max(60_000).optional(),
  })
  .meta({ id: 'NodeDtmfOptions' })

/** What the agent says while the caller waits in this node; null or absent: the agent's holding lines. */
export const holdingLine = text(1, 200).nullable().optional()

/** The fields of nodes that converse. A setting that is null takes the agent's value. */
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
  user_dtmf_options: userDtmfOptions.nullable().optional(),
  holding_line: holdingLine,
  knowledge_base_ids: z.array(text(1, 256)).max(100).nullable().optional(),
  finetune_conversation_examples: examples,
  finetune_transition_examples: examples,
}

const EXAMPLES_UNREAD = 'the model gets the instruction alone'
const UNREAD = {
  knowledge_base_ids: 'the agent answers without documents',
  finetune_conversation_examples: EXAMPLES_UNREAD,
  finetune_transition_examples: EXAMPLES_UNREAD,
} as const

type Unread = { readonly [Name in keyof typeof UNREAD]?: readonly unknown[] | null | undefined }

/** Warnings about members that are set and have no effect yet. */
export function warnUnusedMembers(node: Unread): PartFinding<never>[] {
  const names = ['knowledge_base_ids', 'finetune_conversation_examples', 'finetune_transition_examples'] as const
  return names.filter(name => (node[name] ?? []).length > 0).map(name => notExecuted([name], UNREAD[name]))
}

/** Speaks by the instruction and waits for the caller. */
export function converse(): NodeStep {
  return { next: 'converse' }
}
