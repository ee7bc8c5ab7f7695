import type { actionDescriptor } from '@parley/contract'
import type { z } from 'zod'

type ActionDescriptor = z.output<typeof actionDescriptor>
type JsonSchema = ActionDescriptor['input_schema']

const EVERYWHERE: ActionDescriptor['channels'] = ['cloud', 'phone', 'web']
const PHONE: ActionDescriptor['channels'] = ['phone']
const WEB: ActionDescriptor['channels'] = ['web']
const CONTROL: ActionDescriptor['channels'] = ['control']
const E164: JsonSchema = { type: 'string', pattern: '^\\+[1-9][0-9]{6,14}$' }
const STRINGS: JsonSchema = { type: 'object', additionalProperties: { type: 'string', maxLength: 4096 } }
const CALLER = object(
  {
    agent_id: { type: 'string' },
    agent_version: { type: 'integer' },
    from_number: { type: 'string', description: '`anonymous` when withheld' },
    to_number: { type: 'string' },
  },
  ['agent_id', 'agent_version', 'from_number', 'to_number'],
)
const CONTEXT = object({ dynamic_variables: STRINGS, reject: { type: 'boolean' } }, ['dynamic_variables'])
const ROOM = object({ resource_id: { type: 'string' } }, ['resource_id'])
const BY_MODEL_OR_NODE: ActionDescriptor['invocations'] = ['model_tool', 'flow_node']

/**
 * Every action of the platform: actions of agents, of their runs, and commands of the API. `effect_kind` is the kind of the effect in phone
 * runs.
 */
export const ACTION_DESCRIPTORS: readonly ActionDescriptor[] = [
  {
    id: 'http.request',
    version: 1,
    name: 'HTTP request',
    description:
      'Sends a request made of the arguments to your service, and stores values of the response in variables',
    channels: EVERYWHERE,
    invocations: BY_MODEL_OR_NODE,
    effect_kind: 'http',
    input_schema: { type: 'object', description: "The action's own parameters" },
    output_schema: { description: 'The body of the response: parsed if it is JSON, otherwise text' },
  },
  {
    id: 'call.end',
    version: 1,
    name: 'End the conversation',
    description: 'Says a last line if there is one, then ends the conversation',
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
    description: 'Extracts values from the conversation into dynamic variables',
    channels: EVERYWHERE,
    invocations: BY_MODEL_OR_NODE,
    effect_kind: 'gateway_inference',
    input_schema: { type: 'object', description: "One member for each of the action's variables" },
    output_schema: object({}),
  },
  {
    id: 'agent.swap',
    version: 1,
    name: 'Hand over to another agent',
    description:
      'Another agent continues the conversation, in a run of its own; if none takes it, this one continues it',
    channels: EVERYWHERE,
    invocations: BY_MODEL_OR_NODE,
    effect_kind: 'run_admission',
    input_schema: object({}),
    output_schema: object({}),
  },
  {
    id: 'mcp.call',
    version: 1,
    name: 'Call a tool of an MCP server',
    description: "Calls a tool of one of the agent's MCP servers, and stores values of the result in variables",
    channels: EVERYWHERE,
    invocations: BY_MODEL_OR_NODE,
    effect_kind: 'http',
    input_schema: { type: 'object', description: "The tool's own arguments" },
    output_schema: { description: 'What the tool answers' },
  },
  {
    id: 'code.run',
    version: 1,
    name: 'Run code',
    description: "Runs the author's JavaScript, without a network, and stores values of its result in variables",
    channels: EVERYWHERE,
    invocations: BY_MODEL_OR_NODE,
    effect_kind: 'none',
    input_schema: object({}),
    output_schema: { description: 'What the code returns' },
  },
  {
    id: 'call.transfer',
    version: 1,
    name: 'Transfer the call',
    description: 'Transfers the caller to a number or a SIP address; if the transfer fails, the conversation continues',
    channels: PHONE,
    invocations: BY_MODEL_OR_NODE,
    effect_kind: 'sip_transfer',
    input_schema: object({
      destination: { type: 'string', maxLength: 256, description: 'Only if the destination is inferred' },
    }),
    output_schema: outcome(['transferred', 'failed']),
  },
  {
    id: 'call.press_digit',
    version: 1,
    name: 'Press keys',
    description: 'Sends DTMF digits; w is a pause of 500 ms',
    channels: PHONE,
    invocations: BY_MODEL_OR_NODE,
    effect_kind: 'none',
    input_schema: object({ digits: { type: 'string', pattern: '^[0-9*#w]{1,64}$' } }, ['digits']),
    output_schema: outcome(['done']),
  },
  {
    id: 'sms.send',
    version: 1,
    name: 'Send a text message',
    description: "Sends a text message to the person at the other end, by the service in the agent's settings",
    channels: PHONE,
    invocations: BY_MODEL_OR_NODE,
    effect_kind: 'http',
    input_schema: object({
      message: { type: 'string', maxLength: 1530, description: 'Only if the message is not fixed' },
    }),
    output_schema: { description: "The service's answer" },
  },
  {
    id: 'knowledge.search',
    version: 1,
    name: 'Search documents',
    description: "Searches the agent's documents for what the caller says; the model gets the passages that were found",
    channels: EVERYWHERE,
    invocations: ['setting'],
    effect_kind: 'none',
    input_schema: object({ query: { type: 'string', maxLength: 2000 } }, ['query']),
    output_schema: object({ items: { type: 'array', items: { type: 'object' } } }, ['items']),
  },
  {
    id: 'inbound.context',
    version: 1,
    name: 'Ask about the caller',
    description:
      'Asks your service about an inbound call while it rings: the response sets variables of the call or rejects it',
    channels: PHONE,
    invocations: ['setting'],
    effect_kind: 'http',
    input_schema: object({ event: { const: 'call_inbound' }, call_inbound: CALLER }, ['event', 'call_inbound']),
    output_schema: object({ call_inbound: CONTEXT }, ['call_inbound']),
  },
  {
    id: 'voicemail.message',
    version: 1,
    name: 'Leave a message',
    description: 'Speaks a message after the beep of a mailbox that answered the call, then hangs up',
    channels: PHONE,
    invocations: ['setting'],
    effect_kind: 'none',
    input_schema: object({}),
    output_schema: object({}),
  },
  {
    id: 'model.infer',
    version: 1,
    name: 'Ask the model',
    description: 'Each request to the language model, for a reply or for the choice of a transition',
    channels: EVERYWHERE,
    invocations: ['lifecycle'],
    effect_kind: 'gateway_inference',
    input_schema: object({}),
    output_schema: object({}),
  },
  {
    id: 'analysis.run',
    version: 1,
    name: 'Analyse the run',
    description: "Extracts the agent's analysis items from a run that has ended",
    channels: EVERYWHERE,
    invocations: ['lifecycle'],
    effect_kind: 'gateway_inference',
    input_schema: object({}),
    output_schema: { type: 'object', description: "One member for each of the analysis's items" },
  },
  {
    id: 'webhook.send',
    version: 1,
    name: 'Send an event',
    description: 'Sends a signed event about a run to the webhook of the agent',
    channels: EVERYWHERE,
    invocations: ['lifecycle'],
    effect_kind: 'http',
    input_schema: object(
      {
        event: { type: 'string', enum: ['run.started', 'run.transfer', 'run.ended', 'run.analyzed'] },
        event_id: { type: 'string', format: 'uuid' },
        occurred_at: { type: 'string', format: 'date-time' },
        trace_id: { type: 'string', pattern: '^[0-9a-f]{32}$' },
        run: { type: 'object', description: 'The run at the time of the event' },
      },
      ['event', 'event_id', 'occurred_at', 'trace_id', 'run'],
    ),
    output_schema: object({}),
  },
  {
    id: 'call.dial',
    version: 1,
    name: 'Place a call',
    description: 'Calls the number of an outbound run over the trunk of the number that it calls from',
    channels: PHONE,
    invocations: ['command'],
    effect_kind: 'sip_dial',
    input_schema: object({ to: E164, from: E164 }, ['to']),
    output_schema: object({}),
  },
  {
    id: 'call.hangup',
    version: 1,
    name: 'Hang up',
    description: 'Ends the call, or cancels it while it rings',
    channels: PHONE,
    invocations: ['command'],
    effect_kind: 'sip_hangup',
    input_schema: object({}),
    output_schema: object({}),
  },
  {
    id: 'room.create',
    version: 1,
    name: 'Open a room',
    description: 'Opens the room of LiveKit in which the browser of a web run meets the agent',
    channels: WEB,
    invocations: ['command'],
    effect_kind: 'rtc_room',
    input_schema: object({}),
    output_schema: ROOM,
  },
  {
    id: 'room.delete',
    version: 1,
    name: 'Close a room',
    description: 'Closes the room of LiveKit at the end of a web run, with the visitor in it',
    channels: WEB,
    invocations: ['command'],
    effect_kind: 'rtc_room',
    input_schema: object({}),
    output_schema: ROOM,
  },
  {
    id: 'run.update',
    version: 1,
    name: 'Update a run',
    description: 'Changes variables or metadata of a live run',
    channels: CONTROL,
    invocations: ['command'],
    effect_kind: 'none',
    input_schema: object({
      override_dynamic_variables: STRINGS,
      metadata: { type: ['object', 'null'] },
    }),
    output_schema: object({}),
  },
  {
    id: 'run.cancel',
    version: 1,
    name: 'Cancel a run',
    description: 'Ends a run: a run that waits never starts, and a call is hung up',
    channels: CONTROL,
    invocations: ['command'],
    effect_kind: 'none',
    input_schema: object({}),
    output_schema: object({}),
  },
]

function object(properties: Record<string, JsonSchema>, required: string[] = []): JsonSchema {
  return { type: 'object', properties, required, additionalProperties: false }
}

function outcome(outcomes: string[]): JsonSchema {
  return object({ outcome: { type: 'string', enum: outcomes } }, ['outcome'])
}
