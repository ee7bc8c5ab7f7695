import { e164, text } from '@parley/nodes'
import { z } from 'zod'
import { operation } from '../operation.ts'
import { agentId, trunkId, uuid, version } from '../values/names.ts'
import { listQuery, page } from '../values/page.ts'
import { timestamp } from '../values/time.ts'

export const phoneNumber = z
  .strictObject({
    number_id: uuid,
    phone_number: e164,
    trunk_id: trunkId,
    name: text(1, 256).nullable(),
    /** The agent that answers; `version` null means the current head. */
    assignment: z.strictObject({ agent_id: agentId, version: version.nullable() }).nullable(),
    /**
     * How calls reach the number. `token`: with the token of its trunk's inbound SIP URI. `address`: also without it, from the
     * trunk's addresses, because platform staff confirmed the claim to it. `unconfirmed`: neither, the trunk takes no inbound calls.
     */
    inbound: z.enum(['token', 'address', 'unconfirmed']),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'PhoneNumber' })

const byId = z.strictObject({ number_id: uuid })

const listNumbers = operation({
  id: 'numbers.list',
  method: 'GET',
  path: '/api/v1/telephony/numbers',
  summary: 'List phone numbers and the agents that answer them',
  role: 'viewer',
  idempotency: 'none',
  params: null,
  query: listQuery({ trunk_id: trunkId.optional(), agent_id: agentId.optional() }),
  body: null,
  output: page(phoneNumber),
  statuses: [200],
  refusals: {},
})

const importNumber = operation({
  id: 'numbers.import',
  method: 'POST',
  path: '/api/v1/telephony/numbers',
  summary: 'Import a phone number that a SIP trunk carries',
  role: 'admin',
  idempotency: 'required_header',
  params: null,
  query: null,
  body: z.strictObject({ phone_number: e164, trunk_id: trunkId, name: text(1, 256).optional() }),
  output: phoneNumber,
  statuses: [201, 200],
  refusals: { not_found: [], conflict: ['number_exists', 'limit_reached'] },
})

const assignNumber = operation({
  id: 'numbers.assign',
  method: 'PUT',
  path: '/api/v1/telephony/numbers/{number_id}/assignment',
  summary: 'Let a published agent answer a phone number, or remove the assignment (agent_id null)',
  role: 'admin',
  idempotency: 'natural',
  params: byId,
  query: null,
  body: z.strictObject({
    agent_id: agentId.nullable(),
    /** Null: the head at the time of each call. */
    version: version.nullable().default(null),
  }),
  output: phoneNumber,
  statuses: [200],
  refusals: {
    conflict: ['agent_archived', 'agent_not_published', 'test_publication', 'trunk_not_inbound'],
    capability_unavailable: ['channel_not_supported'],
  },
})

const releaseNumber = operation({
  id: 'numbers.release',
  method: 'DELETE',
  path: '/api/v1/telephony/numbers/{number_id}',
  summary: 'Release a phone number: its assignment ends, live calls continue',
  role: 'admin',
  idempotency: 'natural',
  params: byId,
  query: null,
  body: null,
  output: phoneNumber,
  statuses: [200],
  refusals: {},
})

export const numberOperations = [listNumbers, importNumber, assignNumber, releaseNumber] as const
