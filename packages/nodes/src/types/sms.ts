import { z } from 'zod'
import { defineAction } from '../action-kind.ts'
import { notExecuted } from '../findings.ts'
import { defineNode, type JsonObject } from '../node-type.ts'
import { edgeSlot } from '../parts/edge.ts'
import { ownActionFields, responseVariables } from '../parts/effect.ts'
import { executionMessageFields } from '../parts/execution-message.ts'
import { type Instruction, instruction } from '../parts/instruction.ts'
import { isObject, type JsonSchema, objectSchema } from '../parts/json-schema.ts'
import { LEAVE_NODE, type NodeStep } from '../steps.ts'

/** Longest text message: ten segments of GSM 7-bit text. */
const MAX_MESSAGE = 1530

/** Sends a text message to the caller as a tool. The service is the agent's setting `sms`. */
const smsAction = defineAction({
  kind: 'send_sms',
  exportType: 'send_sms',
  fields: {
    /** A prompt by which the model writes the message, or the message itself. */
    sms_content: instruction.optional(),
    ...executionMessageFields,
    speak_after_execution: z.boolean().default(true),
    response_variables: responseVariables,
  },
  importTool: tool => ({
    ...tool,
    ...(isObject(tool.sms_content) && { sms_content: importedContent(tool.sms_content as JsonObject) }),
  }),
  exportTool: tool => ({
    ...tool,
    ...(isObject(tool.sms_content) && { sms_content: exportedContent(tool.sms_content as JsonObject) }),
  }),
  parameters: ({ sms_content }) => messageParameters(sms_content),
  use: () => ({ next: 'run_action' }),
})

/** Sends a text message to the caller. */
export const sms = defineNode({
  type: 'sms',
  fields: { instruction, success_edge: edgeSlot, failed_edge: edgeSlot },
  enter: (node): NodeStep => ({
    next: 'run_action',
    actionId: null,
    waits: true,
    words: null,
    model: node.model_choice,
  }),
  ownAction: node => ({
    ...ownActionFields(node),
    kind: smsAction.kind,
    description: node.instruction.type === 'prompt' ? node.instruction.text : '',
    sms_content: node.instruction,
    response_variables: {},
  }),
  afterAction: (_, outcome): NodeStep =>
    outcome === 'succeeded' ? { next: 'take', slot: 'success_edge' } : { next: 'fail', slot: 'failed_edge' },
  resume: () => LEAVE_NODE,
  check: (_, draft) =>
    draft.sendsSms
      ? []
      : [
          notExecuted(
            ['type'],
            'the setting "sms" names no service, so the edge for a message that failed is taken',
            [],
          ),
        ],
  action: smsAction,
})

/** Exports write a fixed message as `{type: predefined, content}`, and one that the model writes as `{type: inferred, prompt}`. */
function importedContent({ type, content, prompt, text, ...rest }: JsonObject): JsonObject {
  return type === 'predefined' || type === 'static_text'
    ? { ...rest, type: 'static_text', text: content ?? text ?? '' }
    : { ...rest, type: 'prompt', text: prompt ?? text ?? '' }
}

function exportedContent({ type, text = '' }: JsonObject): JsonObject {
  return type === 'static_text' ? { type: 'predefined', content: text } : { type: 'inferred', prompt: text }
}

function messageParameters(content: Instruction | undefined): JsonSchema {
  if (content?.type === 'static_text') return objectSchema({}, [])
  const description = content === undefined || content.text.trim() === '' ? 'The text message' : content.text
  return objectSchema({ message: { type: 'string', maxLength: MAX_MESSAGE, description } }, ['message'])
}

/** The text of a message: the fixed text, else what the model wrote; null: there is none. */
export function messageText(
  action: SmsAction,
  args: Readonly<Record<string, unknown>>,
  render: (template: string) => string,
): string | null {
  const { sms_content: content } = action
  const text = content?.type === 'static_text' ? render(content.text) : args.message
  return typeof text === 'string' && text.trim() !== '' ? text.trim().slice(0, MAX_MESSAGE) : null
}

export type SmsAction = z.output<typeof smsAction.schema>
