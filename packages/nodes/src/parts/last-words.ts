import { z } from 'zod'
import type { NodeStep } from '../steps.ts'
import { type Instruction, instruction } from './instruction.ts'

/** The fields of nodes that may speak before the conversation ends. */
export const lastWordsFields = {
  instruction: instruction.nullable().default(null),
  speak_during_execution: z.boolean().default(false),
}

interface LastWords {
  readonly instruction: Instruction | null
  readonly speak_during_execution: boolean
}

/** Says the last words where there are any; the conversation or the component ends. */
export function sayLastWords(node: LastWords): NodeStep {
  return { next: 'return', words: node.speak_during_execution ? node.instruction : null }
}
