import { text } from '@parley/nodes'
import { z } from 'zod'
import { operation } from '../operation.ts'
import { environmentName, uuid } from '../values/names.ts'
import { timestamp } from '../values/time.ts'
import { apiKeyCreated } from './keys.ts'

export const environment = z
  .strictObject({
    environment: environmentName,
    tenant_id: uuid,
    name: text(0),
    display_name: text(1, 128).nullable(),
    admission_enabled: z.boolean(),
    /** Maximum of concurrent runs; null: not set. */
    concurrent_capacity: z.int().min(0).nullable(),
    created_at: timestamp,
  })
  .meta({ id: 'Environment' })

const listEnvironments = operation({
  id: 'environments.list',
  method: 'GET',
  path: '/api/v1/environments',
  summary: 'List the production and sandbox environments, and which of them the key selects',
  role: 'viewer',
  idempotency: 'none',
  params: null,
  query: null,
  body: null,
  output: z.strictObject({ items: z.array(environment), selected: environmentName }),
  statuses: [200],
  refusals: {},
})

const ensureSandbox = operation({
  id: 'environments.ensure_sandbox',
  method: 'POST',
  path: '/api/v1/environments/sandbox',
  summary: 'Create the sandbox environment on first use; only that response contains its first admin key',
  role: 'admin',
  idempotency: 'natural',
  params: null,
  query: null,
  body: z.strictObject({}),
  output: z.strictObject({ environment, key: apiKeyCreated.nullable() }),
  statuses: [201, 200],
  refusals: { forbidden: ['production_only'] },
})

export const environmentOperations = [listEnvironments, ensureSandbox] as const
