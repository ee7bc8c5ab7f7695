import { z } from 'zod'
import { notExecuted, type PartFinding } from '../findings.ts'
import { defineNode } from '../node-type.ts'
import { holdingLine } from '../parts/conversing.ts'
import { edgeSlot, edges } from '../parts/edge.ts'
import { transitionExamples } from '../parts/examples.ts'
import { instruction } from '../parts/instruction.ts'
import { warnTypingSound } from '../parts/typing-sound.ts'
import { actionId } from '../values/names.ts'
import { httpAction } from './http-action.ts'

/** Runs an HTTP action, which the model can also call as a tool. */
export const functionNode = defineNode({
  type: 'function',
  fields: {
    tool_id: actionId,
    tool_type: z.enum(['local', 'shared']).optional(),
    wait_for_result: z.boolean().default(true),
    speak_during_execution: z.boolean().default(false),
    enable_typing_sound: z.boolean().optional(),
    instruction: instruction.nullable().default(null),
    holding_line: holdingLine,
    edges,
    else_edge: edgeSlot,
    ...transitionExamples,
  },
  actionIds: node => [node.tool_id],
  enter: node => ({
    next: 'run_action',
    actionId: node.tool_id,
    waits: node.wait_for_result,
    words: node.speak_during_execution ? node.instruction : null,
    model: node.model_choice,
  }),
  check: (node, draft) => [...unreadMembers(node), ...actionFindings(node, draft.actionKind(node.tool_id))],
  action: httpAction,
})

function unreadMembers(node: {
  readonly tool_type?: string | undefined
  readonly enable_typing_sound?: boolean | undefined
}) {
  const found: PartFinding<never>[] = []
  if (node.tool_type === 'shared')
    found.push(notExecuted(['tool_type'], 'the action is looked up among those of this agent'))
  return [...found, ...warnTypingSound(node)]
}

function actionFindings(
  node: { readonly id: string; readonly tool_id: string },
  kind: string | undefined,
): PartFinding<never>[] {
  if (kind === undefined)
    return [
      {
        severity: 'error',
        code: 'action_unknown',
        path: ['tool_id'],
        message: `The node "${node.id}" runs the action "${node.tool_id}", which the agent does not have: define it, or set another tool_id`,
        fixes: [{ fix: 'remove' }],
      },
    ]
  if (kind === httpAction.kind) return []
  return [
    {
      severity: 'error',
      code: 'unsupported_capability',
      path: ['tool_id'],
      message: `The function "${node.id}" runs actions of kind http only, not "${kind}": use the node type of that name`,
      fixes: [{ fix: 'remove' }],
    },
  ]
}
