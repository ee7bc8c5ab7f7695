import { text } from '@parley/nodes'
import { z } from 'zod'
import { operation } from '../operation.ts'
import { trunkId } from '../values/names.ts'
import { listQuery, page } from '../values/page.ts'
import { timestamp } from '../values/time.ts'

const provider = z
  .enum(['carrier_elastic_sip', 'generic_sip'])
  .meta({ description: 'What kind of service the trunk leads to. It has no effect on calls.' })

/** A host name or IPv4 address; staff set port and transport. */
const terminationUri = text(1, 253).regex(
  /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/,
  'lower-case letters, digits, . and -, with a letter or digit at both ends',
)

/** A pinned secret of kind sip_auth. */
const authSecret = z.strictObject({ id: text(1, 128), version: text(1, 128) }).meta({ id: 'TrunkSecretRef' })
const authUsername = text(1, 256)
const name = text(1, 256)

export const trunk = z
  .strictObject({
    trunk_id: trunkId,
    name,
    provider,
    termination_uri: terminationUri,
    auth_username: authUsername.nullable(),
    auth_secret: authSecret.nullable(),
    inbound: z.boolean(),
    /** The SIP URI to which the carrier must send inbound calls. */
    inbound_sip_uri: text(0, 1024).nullable(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'Trunk' })

const calls = z.int().min(0)
const ms = z.int().min(0)
const ended = {
  calls,
  answered: calls,
  /** Answer seizure ratio: answered calls of all; null: there was none. */
  asr: z.number().min(0).max(1).nullable(),
  /** Average duration of answered calls; null: there was none. */
  acd_ms: ms.nullable(),
  /** Calls that were not answered, by final SIP status (null: none came), the most frequent first. */
  failures: z.array(z.strictObject({ sip_status: z.int().nullable(), calls })).max(20),
}

/** How a trunk does: ended calls that began in the last `window_s`, its answers to OPTIONS, its registration. */
const trunkHealth = z
  .strictObject({
    window_s: z.int(),
    outbound: z.strictObject({
      ...ended,
      /** From the INVITE to ringing or the answer; null: no call rang. */
      post_dial_delay_ms: z.strictObject({ p50: ms, p95: ms }).nullable(),
    }),
    inbound: z.strictObject(ended),
    /** End of the last answered call, and of the last that failed for another reason than the callee; null: none in 24 h. */
    last_success_at: timestamp.nullable(),
    last_failure_at: timestamp.nullable(),
    /** Null: no engine has sent OPTIONS in the last 5 min. */
    ping: z
      .strictObject({
        state: z.enum(['reachable', 'partly_reachable', 'unreachable']),
        engines: calls,
        engines_without_answer: calls,
        checked_at: timestamp,
        last_success_at: timestamp.nullable(),
        last_failure_at: timestamp.nullable(),
        targets: z.array(
          z.strictObject({
            transport: z.enum(['udp', 'tcp', 'tls']),
            address: text(1, 64),
            port: z.int(),
            sip_status: z.int().nullable(),
            /** Why there was no answer; null: there was one. */
            error: text(1, 200).nullable(),
            round_trip_ms: ms.nullable(),
          }),
        ),
      })
      .nullable(),
    /** Null: the trunk never registered. */
    registration: z
      .strictObject({
        state: z.enum(['registering', 'registered', 'failed', 'unregistered']),
        sip_status: z.int().nullable(),
        detail: text(0, 500),
        expires_at: timestamp.nullable(),
        updated_at: timestamp,
      })
      .nullable(),
  })
  .meta({ id: 'TrunkHealth' })

const trunkWithHealth = z.strictObject({ ...trunk.shape, health: trunkHealth }).meta({ id: 'TrunkWithHealth' })

const byId = z.strictObject({ trunk_id: trunkId })

const listTrunks = operation({
  id: 'trunks.list',
  method: 'GET',
  path: '/api/v1/telephony/trunks',
  summary: 'List SIP trunks',
  role: 'viewer',
  idempotency: 'none',
  params: null,
  query: listQuery({}),
  body: null,
  output: page(trunk),
  statuses: [200],
  refusals: {},
})

const createTrunk = operation({
  id: 'trunks.create',
  method: 'POST',
  path: '/api/v1/telephony/trunks',
  summary: 'Connect a SIP trunk of your carrier; first store its password as a secret of kind sip_auth',
  role: 'admin',
  idempotency: 'required_header',
  params: null,
  query: null,
  body: z.strictObject({
    trunk_id: trunkId,
    name,
    provider,
    termination_uri: terminationUri,
    auth_username: authUsername,
    auth_secret: authSecret,
    inbound: z.boolean().default(false),
  }),
  output: trunk,
  statuses: [201, 200],
  refusals: {
    invalid_request: ['secret_not_found', 'address_not_allowed'],
    conflict: ['trunk_exists', 'limit_reached'],
    capability_unavailable: ['tenant_not_configured'],
  },
})

const getTrunk = operation({
  id: 'trunks.get',
  method: 'GET',
  path: '/api/v1/telephony/trunks/{trunk_id}',
  summary: 'Read a SIP trunk and its health: calls of the last hour, answers to OPTIONS, registration',
  role: 'viewer',
  idempotency: 'none',
  params: byId,
  query: null,
  body: null,
  output: trunkWithHealth,
  statuses: [200],
  refusals: {},
})

interface Credentials {
  readonly auth_username?: string | null | undefined
  readonly auth_secret?: object | null | undefined
}

function bothOrNeither({ auth_username: username, auth_secret: secret }: Credentials): boolean {
  return (username === undefined) === (secret === undefined) && (username === null) === (secret === null)
}

const updateTrunk = operation({
  id: 'trunks.update',
  method: 'PATCH',
  path: '/api/v1/telephony/trunks/{trunk_id}',
  summary: 'Change a SIP trunk for later calls; disabling and enabling inbound creates a new inbound URI',
  role: 'admin',
  idempotency: 'natural',
  params: byId,
  query: null,
  body: z
    .strictObject({
      name: name.optional(),
      termination_uri: terminationUri.optional(),
      /** Requires `auth_secret`; both null: no digest authentication. */
      auth_username: authUsername.nullable().optional(),
      auth_secret: authSecret.nullable().optional(),
      inbound: z.boolean().optional(),
    })
    .refine(bothOrNeither, {
      message: 'auth_username and auth_secret must be given together, both null or neither null',
      path: ['auth_secret'],
    })
    .meta({ dependentRequired: { auth_username: ['auth_secret'], auth_secret: ['auth_username'] } }),
  output: trunk,
  statuses: [200],
  refusals: { invalid_request: ['secret_not_found', 'address_not_allowed'] },
})

const deleteTrunk = operation({
  id: 'trunks.delete',
  method: 'DELETE',
  path: '/api/v1/telephony/trunks/{trunk_id}',
  summary: 'Delete a SIP trunk; refused while it has numbers',
  role: 'admin',
  idempotency: 'natural',
  params: byId,
  query: null,
  body: null,
  output: trunk,
  statuses: [200],
  refusals: { conflict: ['trunk_in_use'] },
})

export const trunkOperations = [listTrunks, createTrunk, getTrunk, updateTrunk, deleteTrunk] as const
