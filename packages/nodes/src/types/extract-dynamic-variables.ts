import { z } from 'zod'
import { defineAction } from '../action-kind.ts'
import { notExecuted, type PartFinding } from '../findings.ts'
import { defineNode } from '../node-type.ts'
import { edgeSlot, edges } from '../parts/edge.ts'
import { transitionExamples } from '../parts/examples.ts'
import { warnTypingSound } from '../parts/typing-sound.ts'
import { fittingValues, type VariableItem, variableItem, variablesSchema } from '../parts/variable-item.ts'
import { LEAVE_NODE } from '../steps.ts'

const variables = z.array(variableItem).min(1).max(50)

interface Extraction {
  readonly variables: readonly VariableItem[]
}

/** As a tool: the model gives the values as arguments of its call. */
const extractTool = defineAction({
  kind: 'extract_dynamic_variables',
  exportType: 'extract_dynamic_variable',
  fields: { variables },
  variableNames: namesIn,
  check: unreadExamples,
  parameters: action => variablesSchema(action.variables),
  use: (action, args) => ({ next: 'result', result: 'done', variables: fittingValues(action.variables, args) }),
})

/** The model reads variables out of the conversation. */
export const extractDynamicVariables = defineNode({
  type: 'extract_dynamic_variables',
  fields: { variables, edges, else_edge: edgeSlot, ...transitionExamples, enable_typing_sound: z.boolean().optional() },
  check: warnTypingSound,
  variableNames: namesIn,
  enter: node => ({
    next: 'request',
    request: { type: 'extract', variables: node.variables, model: node.model_choice },
  }),
  answer: (node, answer) =>
    answer.type === 'inferred' ? { next: 'leave', variables: fittingValues(node.variables, answer.value) } : LEAVE_NODE,
  action: extractTool,
})

function namesIn({ variables }: Extraction): string[] {
  return variables.map(item => item.name)
}

function unreadExamples({ variables }: Extraction): PartFinding<never>[] {
  return variables.flatMap((item, index) =>
    (item.examples ?? []).length > 0
      ? [notExecuted(['variables', index, 'examples'], 'the model gets the name, type and description alone')]
      : [],
  )
}
