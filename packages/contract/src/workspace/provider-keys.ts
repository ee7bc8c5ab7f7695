import { text } from '@parley/nodes'
import { z } from 'zod'
import { operation } from '../operation.ts'
import { listQuery, page } from '../values/page.ts'
import { timestamp } from '../values/time.ts'

/** The services that an environment may use with a key of its own. */
export const ownKeyProvider = z.enum([
  'openai',
  'anthropic',
  'gemini',
  'deepgram',
  'assemblyai',
  'soniox',
  'speechmatics',
  'azure',
  'google',
  'elevenlabs',
  'cartesia',
  'openai_compatible',
])

const endpoint = z.url({ protocol: /^https?$/, error: 'an http(s) URL' }).max(2048)

/** The key of a model or speech service, without the key. */
const providerKey = z
  .strictObject({
    provider: ownKeyProvider,
    /** The last four characters of the key; empty for a key shorter than eight. */
    last4: text(0, 4),
    /** Base URL of the service; null: the provider's own. */
    endpoint: endpoint.nullable(),
    /** When the provider accepted the key. */
    checked_at: timestamp,
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'ProviderKey' })

/** An unknown provider is not found. */
const byProvider = z.strictObject({ provider: text(1, 128) })

const listProviderKeys = operation({
  id: 'provider_keys.list',
  method: 'GET',
  path: '/api/v1/provider-keys',
  summary: "List the environment's own keys of model and speech services, never the keys themselves",
  role: 'viewer',
  idempotency: 'none',
  params: null,
  query: listQuery({}),
  body: null,
  output: page(providerKey),
  statuses: [200],
  refusals: {},
})

const putProviderKey = operation({
  id: 'provider_keys.put',
  method: 'PUT',
  path: '/api/v1/provider-keys/{provider}',
  summary: 'Store or replace the key of a model or speech service for new runs; the provider checks it first',
  role: 'admin',
  idempotency: 'natural',
  params: byProvider,
  query: null,
  body: z.strictObject({
    key: text(1, 4096).regex(/^[\x21-\x7e]*$/, 'printable ASCII without spaces'),
    /** Base URL of an OpenAI-compatible service; only, and always, for `openai_compatible`. */
    endpoint: endpoint.optional(),
  }),
  output: providerKey,
  statuses: [200],
  kind: 'external',
  rate: 'costly',
  refusals: {
    invalid_request: ['provider_key_rejected', 'address_not_allowed'],
    provider_unavailable: [],
  },
})

const deleteProviderKey = operation({
  id: 'provider_keys.delete',
  method: 'DELETE',
  path: '/api/v1/provider-keys/{provider}',
  summary: "Remove the environment's own key: new runs use the platform's key",
  role: 'admin',
  idempotency: 'natural',
  params: byProvider,
  query: null,
  body: null,
  output: providerKey,
  statuses: [200],
  refusals: {},
})

export const providerKeyOperations = [listProviderKeys, putProviderKey, deleteProviderKey] as const
