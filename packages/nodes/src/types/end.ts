import { defineAction } from '../action-kind.ts'
import type { PartFinding } from '../findings.ts'
import { bareNode, defineNode } from '../node-type.ts'
import type { Instruction } from '../parts/instruction.ts'
import { objectSchema } from '../parts/json-schema.ts'
import { lastWordsFields, sayLastWords } from '../parts/last-words.ts'

/** Hangs up, after the last words where there are any. */
const endCall = defineAction({
  kind: 'end_call',
  exportType: 'end_call',
  fields: lastWordsFields,
  parameters: () => objectSchema({}, []),
  use: action => ({ next: 'hang_up', words: action.speak_during_execution ? action.instruction : null }),
})

/** Ends the conversation; inside a component, the component. */
export const end = defineNode({
  type: 'end',
  fields: lastWordsFields,
  isEnding: true,
  check: unspokenInstruction,
  enter: sayLastWords,
  action: endCall,
})

/** A warning where the instruction is not spoken. */
function unspokenInstruction<
  Node extends { readonly instruction: Instruction | null; readonly speak_during_execution: boolean },
>(node: Node): PartFinding<Node>[] {
  if (node.instruction === null || node.instruction.text.trim() === '' || node.speak_during_execution) return []
  return [
    {
      severity: 'warning',
      code: 'field_ignored',
      path: ['instruction'],
      message: 'The conversation ends without these words: set speak_during_execution, or leave the instruction out',
      fixes: [
        { fix: 'put', label: 'Say the words', part: { ...node, speak_during_execution: true } },
        { fix: 'put', label: 'Leave the words out', part: { ...node, instruction: null } },
      ],
    },
  ]
}

/** An end node that says nothing. */
export function newEndNode(id: string) {
  return { ...bareNode(id), type: 'end' as const, instruction: null, speak_during_execution: false }
}
