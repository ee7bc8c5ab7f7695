import { z } from 'zod'
import { type PartFinding, silentInstruction } from '../findings.ts'
import { stringMap } from '../values/json.ts'
import { variableName } from '../values/names.ts'
import type { ModelRef } from '../values/references.ts'
import { text } from '../values/text.ts'
import { edgeSlot, edges } from './edge.ts'
import { transitionExamples } from './examples.ts'
import { executionMessageFields } from './execution-message.ts'
import { type Instruction, instruction } from './instruction.ts'
import { warnTypingSound } from './typing-sound.ts'

/** For each variable, the path of its value in the result, such as `$.slots[0].time`. */
export const responseVariables = stringMap(variableName, text(1, 1024)).default({})

/** The fields of actions with a result, besides what they do. */
export const resultFields = {
  ...executionMessageFields,
  response_variables: responseVariables,
  speak_after_execution: z.boolean().default(true),
  enable_typing_sound: z.boolean().optional(),
}

/** The fields of nodes that do something when they are entered, and are left by their edges. */
export const effectNodeFields = {
  wait_for_result: z.boolean().default(true),
  speak_during_execution: z.boolean().default(false),
  instruction: instruction.nullable().default(null),
  enable_typing_sound: z.boolean().optional(),
  edges,
  else_edge: edgeSlot,
  ...transitionExamples,
}

interface EffectNode {
  readonly wait_for_result: boolean
  readonly speak_during_execution: boolean
  readonly instruction: Instruction | null
  readonly model_choice: ModelRef | null
}

/** Enters such a node: its own action runs, while its instruction is said. */
export function runOwnAction(node: EffectNode) {
  return {
    next: 'run_action' as const,
    actionId: null,
    waits: node.wait_for_result,
    words: node.speak_during_execution ? node.instruction : null,
    model: node.model_choice,
  }
}

/** The fields that every action has, for the action of a node itself. */
export function ownActionFields(node: { readonly id: string; readonly name: string; readonly type: string }) {
  const name = (node.name || node.id).replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 63)
  return {
    action_id: node.id,
    version: 1,
    name: /^[A-Za-z_]/.test(name) ? name : `_${name}`,
    description: '',
    channels: ['cloud' as const, 'phone' as const, 'web' as const],
    speak_during_execution: false,
    speak_after_execution: true,
  }
}

interface MayBeSilent {
  readonly speak_during_execution: boolean
  readonly instruction: { readonly text: string } | null
  readonly enable_typing_sound?: boolean | undefined
}

/** Warnings about members of such a node that have no effect. */
export function effectNodeFindings<Node extends MayBeSilent>(node: Node): PartFinding<Node>[] {
  return [...warnTypingSound(node), ...silentInstruction(node)]
}
