import { text, uri } from '@parley/nodes'
import { z } from 'zod'
import { operation } from '../operation.ts'
import { uuid } from '../values/names.ts'
import { scope } from '../values/references.ts'

const destination = z.strictObject({
  /** Renewed by every change; null: it was never set. */
  revision: uuid.nullable(),
  configured: z.boolean(),
})

export const alertDestinations = z
  .strictObject({ scope, destinations: z.strictObject({ chat: destination, paging: destination }) })
  .meta({ id: 'AlertDestinations' })

const getDestinations = operation({
  id: 'alert_destinations.get',
  method: 'GET',
  path: '/api/v1/alert-destinations',
  summary: 'Read which alert destinations are configured, chat and paging, never their secrets',
  role: 'viewer',
  idempotency: 'none',
  params: null,
  query: null,
  body: null,
  output: alertDestinations,
  statuses: [200],
  refusals: {},
})

const updateDestinations = operation({
  id: 'alert_destinations.update',
  method: 'PATCH',
  path: '/api/v1/alert-destinations',
  summary: 'Set or clear the chat webhook or the paging routing key of alerts (compare-and-set on their revisions)',
  role: 'admin',
  idempotency: 'natural',
  params: null,
  query: null,
  body: z
    .strictObject({
      chat: z
        .strictObject({ expected_revision: uuid.nullable(), webhook_url: uri(4096, ['https', 'http']).nullable() })
        .optional(),
      paging: z.strictObject({ expected_revision: uuid.nullable(), routing_key: text(1, 256).nullable() }).optional(),
    })
    .refine(({ chat, paging }) => chat !== undefined || paging !== undefined, 'chat or paging is required'),
  output: alertDestinations,
  statuses: [200],
  refusals: { invalid_request: ['address_not_allowed'], conflict: ['stale_revision'] },
})

export const alertDestinationOperations = [getDestinations, updateDestinations] as const
