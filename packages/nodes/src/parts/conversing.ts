import { z } from 'zod'
import type { PartFinding } from '../findings.ts'
import type { NodeStep } from '../steps.ts'
import { actionId } from '../values/names.ts'
import { text } from '../values/text.ts'
import { edgeSlot, edges } from './edge.ts'
import { examples, transitionExamples } from './examples.ts'
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
  /** Documents that are searched in this node instead of the agent's; empty: none; null or absent: the agent's. */
  knowledge_base_ids: z.array(text(1, 256)).max(100).nullable().optional(),
  finetune_conversation_examples: examples,
  ...transitionExamples,
}

/** Members of a node that converses and may offer actions. */
export const toolFields = {
  tool_ids: z.array(actionId).max(50).optional(),
  enable_typing_sound: z.boolean().optional(),
}

/** Findings about `tool_ids` that name actions which the agent does not have. */
export function missingTools<Node extends { readonly id: string; readonly tool_ids?: string[] | undefined }>(
  node: Node,
  draft: { actionKind(actionId: string): string | undefined },
): PartFinding<Node>[] {
  const { tool_ids: ids = [] } = node
  return ids.flatMap((id, index) => {
    if (draft.actionKind(id) !== undefined) return []
    const others = ids.filter(other => other !== id)
    return [
      {
        severity: 'error' as const,
        code: 'action_unknown' as const,
        path: ['tool_ids', index],
        message: `The node "${node.id}" offers the action "${id}", which the agent does not have: define it, or leave it out of tool_ids`,
        fixes: [{ fix: 'put' as const, label: `Leave "${id}" out`, part: { ...node, tool_ids: others } }],
      },
    ]
  })
}

/** Speaks by the instruction and waits for the caller. */
export function converse(): NodeStep {
  return { next: 'converse' }
}
