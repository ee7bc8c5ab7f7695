import { jsonObject, text } from '@parley/nodes'
import { z } from 'zod'
import { operation } from '../operation.ts'

const channel = z.enum(['cloud', 'phone', 'web', 'control'])
const invocation = z.enum(['model_tool', 'flow_node', 'setting', 'lifecycle', 'command'])

export const effectKind = z.enum([
  'none',
  'transaction',
  'gateway_inference',
  'http',
  'rtc_room',
  'sip_dial',
  'sip_transfer',
  'sip_hangup',
  'run_admission',
  'gpu',
])

/** An action of agents: its channels, the ways to invoke it, and its input and output. */
export const actionDescriptor = z
  .strictObject({
    id: text(1, 128),
    version: z.int().min(1),
    name: text(1, 256),
    description: text(0, 1024),
    channels: z.array(channel).min(1),
    invocations: z.array(invocation).min(1),
    effect_kind: effectKind,
    input_schema: jsonObject,
    output_schema: jsonObject,
  })
  .meta({ id: 'ActionDescriptor' })

const listActions = operation({
  id: 'actions.list',
  method: 'GET',
  path: '/api/v1/actions',
  summary: 'List the actions that agents can have',
  role: 'tenant:read',
  idempotency: 'none',
  params: null,
  query: z.strictObject({ channel: channel.optional(), invocation: invocation.optional() }),
  body: null,
  output: z.strictObject({ items: z.array(actionDescriptor) }),
  statuses: [200],
  refusals: {},
})

export const actionCatalogueOperations = [listActions] as const
