import { z } from 'zod'
import { defineAction } from '../action-kind.ts'
import { bareNode, defineNode } from '../node-type.ts'
import { instruction } from '../parts/instruction.ts'
import { objectSchema } from '../parts/json-schema.ts'

const fields = {
  instruction: instruction.nullable().default(null),
  speak_during_execution: z.boolean().default(false),
}

/** Hangs up, after the last words where there are any. */
const endCall = defineAction({
  kind: 'end_call',
  exportType: 'end_call',
  fields,
  parameters: () => objectSchema({}, []),
  use: action => ({ next: 'hang_up', words: action.speak_during_execution ? action.instruction : null }),
})

/** Ends the conversation; inside a component, the component. */
export const end = defineNode({
  type: 'end',
  fields,
  isEnding: true,
  enter: node => ({ next: 'return', words: node.speak_during_execution ? node.instruction : null }),
  action: endCall,
})

/** An end node that says nothing. */
export function newEndNode(id: string) {
  return { ...bareNode(id), type: 'end' as const, instruction: null, speak_during_execution: false }
}
