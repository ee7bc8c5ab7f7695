import type { actionDescriptor } from '@parley/contract'
import type { z } from 'zod'

export type ActionDescriptor = z.output<typeof actionDescriptor>
type JsonSchema = ActionDescriptor['input_schema']

const EVERYWHERE: ActionDescriptor['channels'] = ['cloud', 'phone', 'web']
const PHONE: ActionDescriptor['channels'] = ['phone']
const BY_MODEL_OR_NODE: ActionDescriptor['invocations'] = ['model_tool', 'flow_node']

/**
 * Every action that agents can be given, and only those that run: nothing is listed before it works. `effect_kind` is
 * what is recorded on the phone.
 */
export const ACTION_DESCRIPTORS: readonly ActionDescriptor[] = [
  {
    id: 'http.request',
    version: 1,
    name: 'HTTP request',
    description: 'Sends a request, made of the arguments, to a service of yours, and keeps values of the answer',
    channels: EVERYWHERE,
    invocations: BY_MODEL_OR_NODE,
    effect_kind: 'http',
    input_schema: { type: 'object', description: "What the action's own parameters describe" },
    output_schema: { description: 'The body of the answer: parsed where it is JSON, else text' },
  },
  {
    id: 'call.end',
    version: 1,
    name: 'End the conversation',
    description: 'Says a last line where there is one, then ends the conversation',
    channels: EVERYWHERE,
    invocations: BY_MODEL_OR_NODE,
    effect_kind: 'sip_hangup',
    input_schema: object({}),
    output_schema: object({}),
  },
  {
    id: 'variables.extract',
    version: 1,
    name: 'Extract variables',
    description: 'Reads values out of the conversation into dynamic variables',
    channels: EVERYWHERE,
    invocations: BY_MODEL_OR_NODE,
    effect_kind: 'gateway_inference',
    input_schema: { type: 'object', description: "One member for each of the action's variables" },
    output_schema: object({}),
  },
  {
    id: 'call.transfer',
    version: 1,
    name: 'Transfer the call',
    description:
      'Passes the caller on to a number or a SIP address; where nobody takes the call, the conversation goes on',
    channels: PHONE,
    invocations: BY_MODEL_OR_NODE,
    effect_kind: 'sip_transfer',
    input_schema: object({
      destination: { type: 'string', maxLength: 256, description: 'Only where the destination is inferred' },
    }),
    output_schema: outcome(['transferred', 'failed']),
  },
  {
    id: 'call.press_digit',
    version: 1,
    name: 'Press keys',
    description: 'Sends the tones of telephone keys; w is a pause of 500 ms',
    channels: PHONE,
    invocations: BY_MODEL_OR_NODE,
    effect_kind: 'none',
    input_schema: object({ digits: { type: 'string', pattern: '^[0-9*#w]{1,64}$' } }, ['digits']),
    output_schema: outcome(['done']),
  },
  {
    id: 'model.infer',
    version: 1,
    name: 'Ask the model',
    description: 'Each request to the language model: what to say, which way to go on',
    channels: EVERYWHERE,
    invocations: ['lifecycle'],
    effect_kind: 'gateway_inference',
    input_schema: object({}),
    output_schema: object({}),
  },
]

function object(properties: Record<string, JsonSchema>, required: string[] = []): JsonSchema {
  return { type: 'object', properties, required, additionalProperties: false }
}

function outcome(words: string[]): JsonSchema {
  return object({ outcome: { type: 'string', enum: words } }, ['outcome'])
}
