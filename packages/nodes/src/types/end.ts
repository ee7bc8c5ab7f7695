import { defineAction } from '../action-kind.ts'
import { silentInstruction } from '../findings.ts'
import { bareNode, defineNode } from '../node-type.ts'
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
  check: silentInstruction,
  enter: sayLastWords,
  action: endCall,
})

/** An end node that says nothing. */
export function newEndNode(id: string) {
  return { ...bareNode(id), type: 'end' as const, instruction: null, speak_during_execution: false }
}
