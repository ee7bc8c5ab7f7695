import { text } from '@parley/nodes'
import { z } from 'zod'
import { operation } from '../operation.ts'
import { role, uuid } from '../values/names.ts'
import { listQuery, page } from '../values/page.ts'
import { instant, timestamp } from '../values/time.ts'

const apiKey = z
  .strictObject({
    key_id: uuid,
    name: text(1, 128),
    role,
    /** Whether the key may place real phone calls; admin keys always may. */
    can_dial: z.boolean(),
    prefix: text(4, 32),
    created_at: timestamp,
    last_used_at: timestamp.nullable(),
    expires_at: timestamp.nullable(),
    revoked_at: timestamp.nullable(),
  })
  .meta({ id: 'ApiKey' })

/** An API key with its secret, which is shown at creation and rotation only. */
export const apiKeyCreated = apiKey.extend({ secret: text(16, 256) }).meta({ id: 'ApiKeyCreated' })

const byId = z.strictObject({ key_id: uuid })

const listKeys = operation({
  id: 'keys.list',
  method: 'GET',
  path: '/api/v1/keys',
  summary: 'List API keys, including revoked ones, without their secrets',
  role: 'admin',
  idempotency: 'none',
  params: null,
  query: listQuery({}),
  body: null,
  output: page(apiKey),
  statuses: [200],
  refusals: {},
})

const createKey = operation({
  id: 'keys.create',
  method: 'POST',
  path: '/api/v1/keys',
  summary: 'Create an API key with an explicit role; the secret is returned once',
  role: 'admin',
  idempotency: 'required_header',
  params: null,
  query: null,
  body: z
    .strictObject({
      name: text(1, 128),
      role,
      can_dial: z.boolean().default(false),
      expires_at: instant.optional(),
    })
    .refine(key => !(key.can_dial && key.role === 'viewer'), {
      message: 'must be false for role viewer',
      path: ['can_dial'],
    }),
  output: apiKeyCreated,
  statuses: [201, 200],
  refusals: { conflict: ['limit_reached'] },
})

const revokeKey = operation({
  id: 'keys.revoke',
  method: 'DELETE',
  path: '/api/v1/keys/{key_id}',
  summary: 'Revoke an API key: its access ends, and effects of its runs that are not sent yet can be denied',
  role: 'admin',
  idempotency: 'natural',
  params: byId,
  query: null,
  body: null,
  output: apiKey,
  statuses: [200],
  refusals: {},
})

const rotateKey = operation({
  id: 'keys.rotate',
  method: 'POST',
  path: '/api/v1/keys/{key_id}/rotate',
  summary: 'Replace the secret of an API key; the new one is returned once',
  role: 'admin',
  idempotency: 'required_header',
  params: byId,
  query: null,
  body: z.strictObject({
    /** Seconds for which the old secret remains valid. */
    overlap_seconds: z.int().min(0).max(604_800).default(0),
  }),
  output: apiKeyCreated,
  statuses: [200],
  refusals: { conflict: ['key_revoked'] },
})

export const keyOperations = [listKeys, createKey, revokeKey, rotateKey] as const
