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

/** How long the audio of a preview waits for a client whose connection was lost. */
const PREVIEW_WAITS_MS = 600_000

const previewVoice = operation({
  id: 'voices.preview',
  method: 'POST',
  path: '/api/v1/voices/preview',
  summary:
    'Let people hear how it sounds on a call: an MP3 of a fixed line, spoken as configured; its audio is returned once per idempotency key',
  role: 'member',
  idempotency: 'required_header',
  kind: 'external',
  params: null,
  query: null,
  body: z.strictObject({
    /** `voice_id` of a voice of the voices list. */
    voice_id: text(1, 256),
    /** `model` of the same voice. */
    model: text(1, 128),
    language: z.enum(['en', 'es']),
    /** 1: the voice's own pace. */
    speed: z.number().min(0.5).max(2),
    /** From even (0) to lively (2); voices without such a setting ignore it. */
    expressiveness: z.number().min(0).max(2),
  }),
  output: z.strictObject({
    audio_base64: text(1, 3_000_000),
    media_type: z.literal('audio/mpeg'),
    /** The line that is spoken. */
    text: text(1),
  }),
  statuses: [200],
  refusals: {
    conflict: ['preview_consumed'],
    capability_unavailable: ['voice_not_ready'],
    provider_unavailable: [],
  },
  rate: 'costly',
  // Nothing but speech is made, so a retry may synthesise what a broken request did not finish.
  resumable: true,
  deliversOnceMs: PREVIEW_WAITS_MS,
})

export const voiceOperations = [listVoices, previewVoice] as const
