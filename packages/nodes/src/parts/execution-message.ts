import { z } from 'zod'
import { text } from '../values/text.ts'

/** What the model says beside its call of an action that takes a moment. */
export const executionMessageFields = {
  speak_during_execution: z.boolean().optional(),
  /** What to say: a prompt, or words to say exactly, by `execution_message_type`. */
  execution_message_description: text(0, 4096).optional(),
  execution_message_type: z.enum(['prompt', 'static_text']).optional(),
}

const messageSchema = z.object(executionMessageFields)

type ExecutionMessage = z.output<typeof messageSchema>

/** The sentence of a tool's description that asks the model to speak beside its call; empty: it need not. */
export function wordsBesideCall(part: object): string {
  const action = part as Partial<ExecutionMessage>
  if (action.speak_during_execution !== true) return ''
  const wanted = action.execution_message_description?.trim() ?? ''
  if (wanted === '') return 'Together with the call, say one short sentence to the caller about what you do now.'
  return action.execution_message_type === 'static_text'
    ? `Together with the call, say exactly this to the caller: ${wanted}`
    : `Together with the call, speak to the caller: ${wanted}`
}
