import { modelIdentity, text } from '@parley/nodes'
import { z } from 'zod'
import { operation } from '../operation.ts'
import { listQuery, page } from '../values/page.ts'
import { modelHosting } from '../values/references.ts'

/** `realtime`: a speech-to-speech model, which hears and speaks by itself. */
const kind = z.enum(['chat', 'embedding', 'realtime'])

/** Why a model or a voice cannot be used now. */
export const notReadyReason = z.enum(['no_key', 'unreachable', 'disabled'])

export const model = z
  .strictObject({
    model: modelIdentity,
    name: text(0),
    kind,
    provider: modelHosting,
    ready: z.boolean(),
    /** Null when ready. */
    reason: notReadyReason.nullable(),
    context_tokens: z.int().min(1).nullable(),
    /** Length of the vectors of an embedding model; null for other models. */
    dimension: z.int().min(1).nullable(),
    /** Whether the model can call tools. */
    tools: z.boolean(),
  })
  .meta({ id: 'Model' })

const listModels = operation({
  id: 'models.list',
  method: 'GET',
  path: '/api/v1/models',
  summary: 'List language, speech-to-speech and embedding models, and which of them are ready',
  role: 'viewer',
  idempotency: 'none',
  params: null,
  query: listQuery({ kind: kind.optional(), ready: z.boolean().optional() }),
  body: null,
  output: page(model),
  statuses: [200],
  refusals: {},
})

export const modelOperations = [listModels] as const
