import { text } from '@parley/nodes'
import { z } from 'zod'
import { operation } from '../operation.ts'
import { listQuery, page } from '../values/page.ts'
import { notReadyReason } from './models.ts'

const role = z.enum(['stt', 'tts'])

/** A voice (tts) or a speech recogniser (stt). */
export const voice = z
  .strictObject({
    role,
    provider: text(1, 256),
    model: text(1, 256),
    /** Null for stt. */
    voice_id: text(1, 256).nullable(),
    name: text(0),
    languages: z.array(text(1, 64)),
    gender: z.enum(['female', 'male', 'neutral']).nullable(),
    ready: z.boolean(),
    /** Null when ready. */
    reason: notReadyReason.nullable(),
  })
  .meta({ id: 'Voice' })

const listVoices = operation({
  id: 'voices.list',
  method: 'GET',
  path: '/api/v1/voices',
  summary: 'List voices and speech recognisers, and which of them are ready',
  role: 'viewer',
  idempotency: 'none',
  params: null,
  query: listQuery({
    role: role.optional(),
    language: text(1, 64).optional(),
    provider: text(1, 256).optional(),
  }),
  body: null,
  output: page(voice),
  statuses: [200],
  refusals: {},
})

export const voiceOperations = [listVoices] as const
