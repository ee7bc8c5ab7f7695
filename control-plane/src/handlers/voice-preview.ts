import { Refusal } from '@parley/contract'
import type { Context, Handlers } from '../context.ts'

/** What each language speaks. */
const LINES = {
  en: 'Hello, this is how I sound on a call. How can I help you today?',
  es: 'Hola, así sueno en una llamada. ¿En qué puedo ayudarle hoy?',
} as const

/** The contract's bound of `audio_base64`. */
const MAX_BASE64 = 3_000_000

export const voicePreviewHandlers = {
  'voices.preview': async ({ body }, context) => {
    const { voice_id, model, language, speed, expressiveness } = body
    context.auditResource({ kind: 'operation', id: 'voices/preview' })
    const provider = await providerOf(body, context)
    const text = LINES[language]
    const request = { provider, model, voiceId: voice_id, language, text, speed, expressiveness }
    const outcome = await context.platform.previewVoice(context.scope, request)
    if (outcome.state === 'failed')
      throw new Refusal('provider_unavailable', `${provider} did not speak the line: ${outcome.message}`)
    const audio_base64 = Buffer.from(outcome.mp3).toString('base64')
    if (audio_base64.length > MAX_BASE64)
      throw new Refusal('provider_unavailable', `${provider} spoke the line for too long: the audio exceeds 2 MiB`)
    return { status: 200, body: { audio_base64, media_type: 'audio/mpeg', text } }
  },
} satisfies Partial<Handlers>

interface WantedVoice {
  readonly voice_id: string
  readonly model: string
  readonly language: 'en' | 'es'
}

/** The provider of the voice; the first one that is ready, where several have the pair of voice and model. */
async function providerOf(
  { voice_id, model, language }: WantedVoice,
  { platform, scope, db }: Context,
): Promise<string> {
  const { voices } = await platform.catalogue(scope, db)
  const named = voices.filter(voice => voice.role === 'tts' && voice.voice_id === voice_id && voice.model === model)
  const speaking = named.filter(({ languages }) => languages.some(tag => tag.split('-')[0] === language))
  const ready = speaking.find(voice => voice.ready)
  if (ready !== undefined) return ready.provider
  const why =
    named.length === 0
      ? `no voice "${voice_id}" has the model "${model}": choose one of GET /voices?role=tts`
      : speaking.length === 0
        ? `the voice "${voice_id}" does not speak "${language}"`
        : `the voice "${voice_id}" of the model "${model}" is not ready (${speaking[0]?.reason ?? 'unreachable'})`
  throw new Refusal('capability_unavailable', why, { reason: 'voice_not_ready' })
}
