import { text } from '@parley/nodes'
import { z } from 'zod'
import { operation } from '../operation.ts'
import { secretId } from '../values/names.ts'
import { listQuery, page } from '../values/page.ts'
import { timestamp } from '../values/time.ts'

export const secretKind = z.enum(['sip_auth', 'http_auth', 'webhook_signing', 'provider_credential'])

const secretVersion = z
  .string()
  .max(128)
  .regex(/^[0-9]+$/, 'decimal digits')

/** A secret without its values. */
export const secret = z
  .strictObject({
    secret_id: secretId,
    kind: secretKind,
    /** The current version. */
    version: secretVersion,
    versions: z.array(z.strictObject({ version: secretVersion, created_at: timestamp })),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'Secret' })

const byId = z.strictObject({ secret_id: secretId })

const listSecrets = operation({
  id: 'secrets.list',
  method: 'GET',
  path: '/api/v1/secrets',
  summary: 'List secrets and their versions, never their values',
  role: 'viewer',
  idempotency: 'none',
  params: null,
  query: listQuery({}),
  body: null,
  output: page(secret),
  statuses: [200],
  refusals: {},
})

const putSecret = operation({
  id: 'secrets.put',
  method: 'PUT',
  path: '/api/v1/secrets/{secret_id}',
  summary:
    'Store a secret, such as the password of a trunk or of an HTTP action, or add a version to it; a value equal to the current one adds none',
  role: 'admin',
  idempotency: 'natural',
  params: byId,
  query: null,
  body: z.strictObject({ kind: secretKind, value: text(1, 16_384) }),
  output: secret,
  statuses: [200],
  refusals: { conflict: ['kind_mismatch', 'limit_reached'] },
})

const deleteSecret = operation({
  id: 'secrets.delete',
  method: 'DELETE',
  path: '/api/v1/secrets/{secret_id}',
  summary: 'Delete a secret and all its versions; refused while it is in use, unless forced',
  role: 'admin',
  idempotency: 'natural',
  params: byId,
  query: z.strictObject({ force: z.boolean().default(false) }),
  body: null,
  output: secret,
  statuses: [200],
  refusals: { conflict: ['secret_in_use'] },
})

export const secretOperations = [listSecrets, putSecret, deleteSecret] as const
